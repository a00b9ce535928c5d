import { hoursOfCredit } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Announce } from "../../environments/notice.ts";
import type { Delivery } from "../../environments/reconciler/start-reconciler.ts";
import { formatDuration } from "../../text/format-duration.ts";
import { returnCredits } from "../credits/return-credits.ts";
import { useCredits } from "../credits/use-credits.ts";
import { bookRemainingRevenue } from "../ledger/journal.ts";
import { settlingPayment } from "../ledger/lock-payment.ts";
import { refundPayment } from "../refunds/create-refund.ts";
import { refundUnused } from "../refunds/take-back-hours.ts";
import { bonusHours } from "./deadlines.ts";

type Environment = Parameters<Delivery["delivered"]>[1];

/**
 * Finishes a paid order in the reconciler's transaction. `delivered` and `undelivered` race for the lock on the order's
 * row, and the first one wins (docs/internals/money.md).
 */
export function delivery({ announce }: { readonly announce: Announce }): Delivery {
  return {
    delivered: (tx, environment) => recordDelivered(tx, environment, announce),
    undelivered: (tx, environment, reason) => refundUndelivered(tx, environment, reason, announce),
    kept: keepDelivered,
    ended: (tx, environment, unpaidSeconds) => closePurchases(tx, environment, unpaidSeconds, announce),
  };
}

async function recordDelivered(tx: Tx, { orderId, userId }: Environment, announce: Announce) {
  const order = await lockPaid(tx, orderId);
  if (!order) return undefined;
  const isFree = order.gateway === "credit";
  const own = isFree ? await creditsOf(tx, orderId) : 0;
  const granted = (await useCredits(tx, orderId, userId)) + own;
  const owed = (await useCredit(tx, orderId, userId)) + granted;
  // An order of 0 gets what its credit is worth, and no more (G332).
  const late = order.late && !isFree ? bonusHours : 0;
  const bonus = late + hoursOfCredit(owed, order.gpu_count) - (isFree ? order.duration_hours : 0);
  await fulfill(tx, orderId, order.duration_hours + bonus);
  if (bonus > 0)
    await announce(tx, {
      userId,
      cause: `bonus:${orderId}`,
      title: `${hoursText(bonus)} added`,
      body: late
        ? `${order.subdomain} took longer than ten minutes, so it runs ${hoursText(bonus)} more than you paid for.`
        : `${granted > 0 ? "Your credit is" : "The GPU-hours we owed you are"} ${hoursText(bonus)} of ${order.subdomain}.`,
      link: `/billing/orders/${orderId}`,
    });
  return { bonusHours: bonus };
}

async function refundUndelivered(
  tx: Tx,
  { orderId }: Environment,
  reason: Parameters<Delivery["undelivered"]>[2],
  announce: Announce,
): Promise<void> {
  const order = await lockPaid(tx, orderId);
  if (!order) return;
  if (order.gateway === "credit") return await freeCredits(tx, orderId);
  await sql`update orders set status = 'refunding', usd_net_minor = 0, hours = 0 where id = ${orderId}`.execute(tx);
  const payment = await settlingPayment(tx, orderId).executeTakeFirstOrThrow();
  if (payment.refund_minor === payment.amount_minor)
    // Refunded in the provider's dashboard: an operator has decided about a credit.
    return void (await sql`update orders set status = 'refunded', closed_at = now() where id = ${orderId}`.execute(tx));
  await refundPayment(tx, payment, reason, announce);
  if (reason === "not_delivered") await grantCredit(tx, orderId);
}

/** Books the used time of the launch and its extensions as revenue; refunds time lost by our fault or an operator's end. */
async function closePurchases(tx: Tx, { id, orderId }: Environment, unpaidSeconds: number, announce: Announce) {
  const orders = await tx
    .selectFrom("orders")
    .select(["id", "hours", "user_id", "subdomain"])
    .where((where) => where.or([where("id", "=", orderId), where("extends", "=", id)]))
    .where("status", "=", "fulfilled")
    .orderBy("id")
    .forUpdate()
    .execute();
  const reason = unpaidSeconds > 0 ? "hardware" : "discretionary";
  const unusedSeconds = unpaidSeconds > 0 ? unpaidSeconds : await secondsTakenByOperator(tx, id);
  const usage = { unusedSeconds, totalSeconds: orders.reduce((sum, { hours }) => sum + hours * 3600, 0) };
  for (const order of orders) {
    if (unusedSeconds > 0) {
      const payment = await settlingPayment(tx, order.id).executeTakeFirst();
      if (payment) await refundUnused(tx, payment, usage, reason, announce);
      await returnCredits(tx, order, unusedSeconds / usage.totalSeconds, announce);
    }
    await bookRemainingRevenue(tx, order.id);
  }
}

/** Counts the order as delivered, and adds a refund request for an operator to decide. */
async function keepDelivered(tx: Tx, { orderId, userId }: Environment) {
  const order = await lockPaid(tx, orderId);
  if (!order) return undefined;
  // An order of 0 has taken more than it says: parts of an hour, and what is beyond the longest order (G332).
  const isFree = order.gateway === "credit";
  const hours = isFree ? hoursOfCredit(await creditsOf(tx, orderId), order.gpu_count) : order.duration_hours;
  await fulfill(tx, orderId, hours);
  await tx
    .insertInto("refund_requests")
    .values({ id: newId(), order_id: orderId, user_id: userId, reason: "silent", text: silentText })
    .onConflict((conflict) => conflict.column("order_id").where("status", "=", "open").doNothing())
    .execute();
  return { bonusHours: hours - order.duration_hours };
}

const silentText =
  "Berth asks: JupyterLab never answered though its container ran, and this account was paid back for that before. The environment is stopped and its whole time banked.";

function hoursText(hours: number): string {
  return Number.isInteger(hours) ? `${hours} hours` : formatDuration(hours * 3600);
}

/** Remaining paid seconds of an environment that an operator ended (G108); 0 for any other end. */
async function secondsTakenByOperator(tx: Tx, id: string): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select greatest(0, floor(coalesce(extract(epoch from expires_at - now()), banked_seconds)))::float8 as seconds
    from environments where id = ${id} and ended_reason = 'operator'`.execute(tx);
  return rows[0]?.seconds ?? 0;
}

async function fulfill(tx: Tx, orderId: string, hours: number): Promise<void> {
  await sql`update orders set status = 'fulfilled', hours = ${hours}, closed_at = now() where id = ${orderId}`.execute(
    tx,
  );
}

async function lockPaid(tx: Tx, orderId: string) {
  return tx
    .selectFrom("orders")
    .select(["duration_hours", "gpu_count", "subdomain", "gateway", sql<boolean>`now() > deliver_by`.as("late")])
    .where("id", "=", orderId)
    .where("status", "=", "paid")
    .forUpdate()
    .executeTakeFirst();
}

/** GPU-hours that an order of 0 has taken. */
async function creditsOf(tx: Tx, orderId: string): Promise<number> {
  const { rows } = await sql<{ gpu_hours: number }>`
    select coalesce(sum(gpu_hours), 0) as gpu_hours from granted_credits where used_by_order = ${orderId}`.execute(tx);
  return rows[0]?.gpu_hours ?? 0;
}

/** Ends an order of 0 that was not delivered: its credits are open again. */
async function freeCredits(tx: Tx, orderId: string): Promise<void> {
  await sql`update orders set status = 'refunded', hours = 0, closed_at = now() where id = ${orderId}`.execute(tx);
  await sql`update granted_credits set used_by_order = null where used_by_order = ${orderId}`.execute(tx);
}

/** Grants a credit of two hours of the ordered GPUs; an account has at most one open credit (G107). */
async function grantCredit(tx: Tx, orderId: string): Promise<void> {
  await sql`
    insert into time_credits (id, user_id, order_id, gpu_hours, reason)
    select ${newId()}, user_id, id, ${bonusHours} * gpu_count, 'not_delivered' from orders where id = ${orderId}
    on conflict do nothing`.execute(tx);
}

/** Uses the open credit of an undelivered launch (G15, G107); returns GPU-hours. Concurrent deliveries never use the same credit. */
async function useCredit(tx: Tx, orderId: string, userId: string): Promise<number> {
  const { rows } = await sql<{ gpu_hours: number }>`
    update time_credits set used_by_order = ${orderId} where id = (
      select id from time_credits where user_id = ${userId} and used_by_order is null for update skip locked)
    returning gpu_hours`.execute(tx);
  return rows[0]?.gpu_hours ?? 0;
}
