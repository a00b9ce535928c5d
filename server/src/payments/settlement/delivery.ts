import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/ids.ts";
import type { Announce, Delivery } from "../../environments/reconciler/start-reconciler.ts";
import { formatDuration } from "../../text/format-duration.ts";
import { bookRemainingRevenue } from "../ledger/journal.ts";
import { refundPayment } from "../refunds/create-refund.ts";
import { refundUnused } from "../refunds/take-back-hours.ts";
import { bonusHours, hoursOfCredit } from "./deadlines.ts";

interface Options {
  readonly announce: Announce;
}

/**
 * The end of a paid order, inside the transaction that records what became of its environment. "Answers" and "give up"
 * race for the order's row; the first one wins (docs/internals/money.md).
 */
export function delivery({ announce }: Options): Delivery {
  return {
    async delivered(tx, { orderId, userId }) {
      const order = await lockPaid(tx, orderId);
      if (!order) return undefined;
      const bonus = (order.late ? bonusHours : 0) + (await useCredit(tx, orderId, userId, order.gpu_count));
      await tx
        .updateTable("orders")
        .set({ status: "fulfilled", hours: order.duration_hours + bonus, closed_at: sql`now()` })
        .where("id", "=", orderId)
        .execute();
      if (bonus > 0)
        await announce(tx, {
          userId,
          cause: `bonus:${orderId}`,
          title: `${hoursText(bonus)} added`,
          body: order.late
            ? `${order.subdomain} took longer than ten minutes, so it runs ${hoursText(bonus)} more than you paid for.`
            : `The GPU-hours we owed you are ${hoursText(bonus)} of ${order.subdomain}.`,
          link: `/billing/orders/${orderId}`,
        });
      return { bonusHours: bonus };
    },

    async undelivered(tx, { orderId }, reason) {
      if (!(await lockPaid(tx, orderId))) return;
      await tx
        .updateTable("orders")
        .set({ status: "refunding", usd_net_minor: 0, hours: 0 })
        .where("id", "=", orderId)
        .execute();
      const payment = await settlingPayment(tx, orderId);
      if (payment.refund_minor === payment.amount_minor) return await closeRefunded(tx, orderId);
      await refundPayment(tx, payment, reason, announce);
      if (reason === "not_delivered") await grantCredit(tx, orderId);
    },

    kept: keepDelivered,

    async ended(tx, { id, orderId }, unpaidSeconds) {
      const orders = await tx
        .selectFrom("orders")
        .select(["id", "hours"])
        .where((where) => where.or([where("id", "=", orderId), where("extends", "=", id)]))
        .where("status", "=", "fulfilled")
        .orderBy("id")
        .forUpdate()
        .execute();
      const reason = unpaidSeconds > 0 ? "hardware" : "discretionary";
      const unusedSeconds = unpaidSeconds > 0 ? unpaidSeconds : await secondsTakenByOperator(tx, id);
      const totalSeconds = orders.reduce((sum, { hours }) => sum + hours * 3600, 0);
      for (const order of orders) {
        if (unusedSeconds > 0)
          await refundUnused(
            tx,
            await settlingPayment(tx, order.id),
            { unusedSeconds, totalSeconds },
            reason,
            announce,
          );
        await bookRemainingRevenue(tx, order.id);
      }
    },
  };
}

/** The order counts as delivered, and waits in the queue of refund requests for a person. */
async function keepDelivered(tx: Tx, { orderId, userId }: Parameters<Delivery["kept"]>[1]): Promise<boolean> {
  const order = await lockPaid(tx, orderId);
  if (!order) return false;
  await tx
    .updateTable("orders")
    .set({ status: "fulfilled", hours: order.duration_hours, closed_at: sql`now()` })
    .where("id", "=", orderId)
    .execute();
  await tx
    .insertInto("refund_requests")
    .values({ id: newId(), order_id: orderId, user_id: userId, reason: "silent", text: silentText })
    .onConflict((conflict) => conflict.column("order_id").where("status", "=", "open").doNothing())
    .execute();
  return true;
}

/** For the operator, in the queue of refund requests. */
const silentText =
  "Berth asks: JupyterLab never answered though its container ran, and this account was paid back for that before. The environment is stopped and its whole time banked.";

function hoursText(hours: number): string {
  return Number.isInteger(hours) ? `${hours} hours` : formatDuration(hours * 3600);
}

/** Whole seconds of paid time that are left of one that is ended by an operator, and not by its owner or its clock (G108). */
async function secondsTakenByOperator(tx: Tx, id: string): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select greatest(0, floor(coalesce(extract(epoch from expires_at - now()), banked_seconds)))::float8 as seconds
    from environments where id = ${id} and ended_reason = 'operator'`.execute(tx);
  return rows[0]?.seconds ?? 0;
}

/** The one payment that an order was settled by. */
async function settlingPayment(tx: Tx, orderId: string) {
  return tx
    .selectFrom("payments")
    .selectAll()
    .where("order_id", "=", orderId)
    .where("settles_order", "=", true)
    .executeTakeFirstOrThrow();
}

/** Nothing is left to send back: it went back outside already, by somebody who has decided what else is owed. */
async function closeRefunded(tx: Tx, orderId: string): Promise<void> {
  const closed = tx.updateTable("orders").set({ status: "refunded", closed_at: sql`now()` });
  await closed.where("id", "=", orderId).execute();
}

async function lockPaid(tx: Tx, orderId: string) {
  return tx
    .selectFrom("orders")
    .select(["duration_hours", "gpu_count", "subdomain", sql<boolean>`now() > deliver_by`.as("late")])
    .where("id", "=", orderId)
    .where("status", "=", "paid")
    .forUpdate()
    .executeTakeFirst();
}

/** Two hours of what was ordered, in GPU-hours; an account has one open credit (G107). */
async function grantCredit(tx: Tx, orderId: string): Promise<void> {
  await sql`
    insert into time_credits (id, user_id, order_id, gpu_hours, reason)
    select ${newId()}, user_id, id, ${bonusHours} * gpu_count, 'not_delivered' from orders where id = ${orderId}
    on conflict do nothing`.execute(tx);
}

/** The open credit in hours of this order (G15, G107); two deliveries at once never take the same. */
async function useCredit(tx: Tx, orderId: string, userId: string, gpuCount: number): Promise<number> {
  const { rows } = await sql<{ gpu_hours: number }>`
    update time_credits set used_by_order = ${orderId} where id = (
      select id from time_credits where user_id = ${userId} and used_by_order is null for update skip locked)
    returning gpu_hours`.execute(tx);
  return hoursOfCredit(rows[0]?.gpu_hours ?? 0, gpuCount);
}
