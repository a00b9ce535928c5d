import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { defaultPrices, major, quote } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../../server/src/database/database.ts";
import { act, cancel, terminate } from "../../server/src/environments/api/environment-actions.ts";
import type { User } from "../../server/src/http/request-user.ts";
import type { EmbeddedProvider } from "../../server/src/payments/embedded-provider/embedded-provider.ts";
import { confirmPayment } from "../../server/src/payments/orders/confirm-payment.ts";
import { clearOrder } from "../../server/src/payments/orders/end-unpaid-order.ts";
import { placeExtension } from "../../server/src/payments/orders/place-extension.ts";
import { placeOrder } from "../../server/src/payments/orders/place-order.ts";
import { grantRefund, type Share } from "../../server/src/payments/refunds/grant-refund.ts";
import { requestRefund } from "../../server/src/payments/refunds/request-refund.ts";
import { syncDispute } from "../../server/src/payments/settlement/dispute-poller.ts";
import { settlePayment } from "../../server/src/payments/settlement/settle-payment.ts";
import type { Process, ProcessDeps } from "./process-model.ts";

export interface Scene extends ProcessDeps {
  readonly db: Db;
  readonly gateway: EmbeddedProvider;
  readonly gatewayUrl: string;
}

/** One customer and one process, which may end at any step. Each visit has its own user and subdomain. */
export interface Visit {
  readonly scene: Scene;
  readonly process: Process;
  readonly user: string;
}

/** "never delivered": the machine starts nothing. "silent": the container runs and never passes the readiness probe. */
export const flows: Readonly<Record<string, (visit: Visit) => Promise<unknown>>> = {
  "paid and delivered": async (visit) => prove(visit, await pay(visit, await order(visit))),
  "left after paying": async (visit) => pay(visit, await order(visit)),
  "paid twice": async (visit) => {
    const id = await order(visit);
    await pay(visit, id);
    await addPayment(visit, id, {});
  },
  "paid after dismissing": async (visit) => {
    const id = await order(visit);
    await clearOrder(visit.process.payments, visit.user, id);
    await pay(visit, id);
  },
  "another amount": async (visit) => addPayment(visit, await order(visit), { amount: 7 }),
  "cancelled while starting": async (visit) => {
    await pay(visit, await order(visit));
    await own(visit, (id) => cancel(visit.process.payments.db, { id, userId: visit.user }));
  },
  "never delivered": async (visit) => pay(visit, await order(visit)),
  silent: async (visit) => pay(visit, await order(visit)),
  "stopped, started, extended, ended": async (visit) => {
    await prove(visit, await pay(visit, await order(visit)));
    const { payments } = visit.process;
    await own(visit, (id) => act(payments.db, { id, userId: visit.user }, "stop"), "active");
    await own(visit, (id) => act(payments.db, { id, userId: visit.user }, "restart"), "stopped");
    await own(
      visit,
      async (id) => {
        await extend(visit, id);
        await terminate(payments.db, { id, userId: visit.user }, visit.user);
      },
      "active",
    );
  },
  "granted back whole": (visit) => askBack(visit, "full"),
  "granted back in part": (visit) => askBack(visit, 15),
  "extended, the base paid back in the dashboard": (visit) => extended(visit, ({ base }) => sendBack(visit, base)),
  "stopped, the extension paid back in the dashboard": (visit) =>
    extended(visit, async ({ more, id }) => {
      const { db } = visit.process.payments;
      await act(db, { id, userId: visit.user }, "stop");
      await own(visit, () => sendBack(visit, more), "stopped");
    }),
  "extended, the base granted back whole, then the rest": (visit) =>
    extended(visit, async ({ base, more }) => {
      await grantUnasked(visit, base, "full");
      await grantUnasked(visit, more, "prorated");
    }),
  "extended, the base lost to the bank": (visit) => extended(visit, ({ base }) => loseDispute(visit, base.payment_id)),
  "extended, then ended by an operator": (visit) =>
    extended(visit, async ({ id }) => {
      await sql`update environments set desired = 'terminated', ended_reason = 'operator', due_at = now(), lease_token = null, lease_expires_at = null
        where id = ${id} and desired <> 'terminated'`.execute(visit.process.payments.db);
    }),
  "delivered with the hours of a credit, then paid back": async (visit) => {
    const before = await order(visit);
    await clearOrder(visit.process.payments, visit.user, before);
    await openCredit(visit, before);
    const paid = await pay(visit, await order(visit));
    await prove(visit, paid);
    await sendBack(visit, paid);
  },
  "lost to the bank": async (visit) => {
    const paid = await pay(visit, await order(visit));
    await prove(visit, paid);
    await loseDispute(visit, paid.payment_id);
  },
  "lost to the bank while starting": async (visit) => {
    const { payment_id } = await pay(visit, await order(visit));
    // Refused once it is active.
    const cancelling = own(visit, (id) => cancel(visit.process.payments.db, { id, userId: visit.user }));
    await Promise.all([loseDispute(visit, payment_id), cancelling.catch(() => {})]);
  },
};

async function order({ process, user }: Visit): Promise<string> {
  const container_request = {
    user_id: user,
    container_type: "jupyter" as const,
    subdomain: user,
    gpu_count: 2 as const,
    duration: 1 as const,
  };
  const payment_request = { amount: 0.4, currency: "USD" as const, user_id: user, container_request };
  return (await placeOrder(process.payments, buyer(user), { container_request, payment_request })).id;
}

function buyer(id: string): User {
  return { id, email: "", emailVerified: true, name: "", sessionId: null };
}

async function pay({ scene }: Visit, order_id: string): Promise<{ order_id: string; payment_id: string }> {
  const card = { number: "5555555555554444", cvv: "123", expiry_month: "12", expiry_year: "34" };
  const body = { key_id: scene.gateway.keyId, order_id, method: "card", card };
  const answer = await fetch(`${scene.gatewayUrl}/payments/create/checkout`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { razorpay_payment_id } = (await answer.json()) as { razorpay_payment_id: string };
  return { order_id, payment_id: razorpay_payment_id };
}

async function prove(
  { scene, process, user }: Visit,
  { order_id, payment_id }: { order_id: string; payment_id: string },
  duration: 1 | 6 = 1,
) {
  const container_request = {
    user_id: user,
    container_type: "jupyter" as const,
    subdomain: user,
    gpu_count: 2 as const,
    duration,
  };
  const razorpay_signature = createHmac("sha256", scene.gateway.keySecret)
    .update(`${order_id}|${payment_id}`)
    .digest("hex");
  const payment_data = { razorpay_order_id: order_id, razorpay_payment_id: payment_id, razorpay_signature };
  const signal = AbortSignal.any([AbortSignal.timeout(5000), process.ending]);
  return confirmPayment(process.payments, user, { container_request, payment_data }, signal);
}

type Payment = Awaited<ReturnType<typeof pay>>;

async function extend(visit: Visit, id: string): Promise<Payment> {
  const body = {
    duration: 6 as const,
    amount: major(quote(defaultPrices, 2, 6, "USD").amountMinor),
    currency: "USD" as const,
  };
  const order = await placeExtension(visit.process.payments, buyer(visit.user), id, body);
  const paid = await pay(visit, order.id);
  await prove(visit, paid, 6);
  return paid;
}

/** An hourly rental extended by six hours, paid and running. */
async function extended(
  visit: Visit,
  then: (bought: { base: Payment; more: Payment; id: string }) => Promise<unknown>,
): Promise<void> {
  const base = await pay(visit, await order(visit));
  await prove(visit, base);
  await own(visit, async (id) => then({ base, id, more: await extend(visit, id) }), "active");
}

/** Refunds in the provider's dashboard. */
async function sendBack({ scene, process }: Visit, { payment_id }: Payment): Promise<void> {
  await asMerchant(scene, `/payments/${payment_id}/refund`, {});
  await settlePayment(process.payments, await process.payments.provider.payment(payment_id));
}

async function grantUnasked({ process: { payments } }: Visit, { order_id }: Payment, share: Share): Promise<void> {
  const { db, announce } = payments;
  await grantRefund(
    { db, announce, author: { actor: "cli:prove", reason: "" }, orderId: order_id, message: "" },
    share,
  );
}

/** The credit of an undelivered order. */
async function openCredit({ process, user }: Visit, order_id: string): Promise<void> {
  await sql`insert into time_credits (id, user_id, order_id, gpu_hours, reason)
    select id, ${user}, id, 2, 'not_delivered' from orders where gateway_order_id = ${order_id} on conflict do nothing`.execute(
    process.payments.db,
  );
}

/** The customer requests a refund and an operator grants it. */
async function askBack(visit: Visit, share: Share): Promise<void> {
  const paid = await pay(visit, await order(visit));
  await prove(visit, paid);
  const { db, announce } = visit.process.payments;
  await requestRefund(db, visit.user, paid.order_id, { reason: "other", text: "No longer needed" });
  await grantRefund(
    { db, announce, author: { actor: "cli:prove", reason: "" }, orderId: paid.order_id, message: "" },
    share,
  );
}

async function loseDispute({ scene, process }: Visit, payment_id: string): Promise<void> {
  const { id } = await asMerchant(scene, "/test/disputes", { payment_id });
  await asMerchant(scene, `/test/disputes/${id}`, { status: "lost" });
  await syncDispute(process.payments, id);
}

async function addPayment({ scene }: Visit, order_id: string, change: { amount?: number }): Promise<void> {
  await asMerchant(scene, "/test/payments", { order_id, status: "captured", ...change });
}

async function asMerchant({ gateway, gatewayUrl }: Scene, path: string, body: object): Promise<{ id: string }> {
  const authorization = `Basic ${Buffer.from(`${gateway.keyId}:${gateway.keySecret}`).toString("base64")}`;
  const headers = { authorization, "content-type": "application/json" };
  const answer = await fetch(`${gatewayUrl}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  return (await answer.json()) as { id: string };
}

/** Runs `work` once the customer's environment exists and has `status`; not at all if the process ends before. */
async function own(
  { scene, process, user }: Visit,
  work: (id: string) => Promise<unknown>,
  status?: string,
): Promise<void> {
  for (let tries = 0; tries < 100 && !process.ending.aborted; tries++) {
    await timePasses(scene, user);
    const row = await scene.db
      .selectFrom("environments")
      .select(["id", "status"])
      .where("user_id", "=", user)
      .executeTakeFirst();
    if (row && (status === undefined || row.status === status)) return void (await work(row.id));
    await sleep(10);
  }
}

/**
 * Makes all rows of this customer due, as time would, and unless `leases` is false ends what is leased. Skips rows that the
 * product has locked: locking many rows in no order would deadlock with it.
 */
export async function timePasses({ db }: Scene, user: string, leases = true): Promise<void> {
  const free = leases ? "" : " and coalesce(lease_expires_at <= now(), true)";
  const due = (table: string, condition: string) =>
    sql`select id from ${sql.ref(table)} where ${sql.raw(condition + free)} for update skip locked`;
  const ours = `user_id = '${user}'`;
  const expired = sql`case when lease_token is not null then now() end`;
  await sql`update orders set due_at = now(), lease_expires_at = ${expired}, hold_until = least(hold_until, now() - interval '5 minutes')
    where id in (${due("orders", `${ours} and greatest(due_at, lease_expires_at) > now()`)})`.execute(db);
  await sql`update orders set created_at = created_at - interval '1 minute'
    where id in (${due("orders", `${ours} and status = 'draft'`)})`.execute(db);
  const payments = `payment_id in (select id from payments where ${ours})`;
  const isLater = "status <> 'processed' and greatest(due_at, lease_expires_at) > now()";
  await sql`update refunds set due_at = now(), lease_expires_at = ${expired}
    where id in (${due("refunds", `${payments} and ${isLater}`)})`.execute(db);
  const isEnvironmentLater = "status <> 'terminated' and greatest(due_at, lease_expires_at) > now()";
  await sql`update environments set due_at = now(), lease_expires_at = ${expired}
    where id in (${due("environments", `${ours} and ${isEnvironmentLater}`)})`.execute(db);
}

/** Waits until nothing of this customer is under way; rejects after `tries`. */
export async function settle(scene: Scene, user: string, tries = 600): Promise<void> {
  for (let n = 0; n < tries; n++) {
    // A lease ends seldom: on a busy machine its work may take longer than a few tries, and would begin anew each time.
    if (n % 8 === 7) await timePasses(scene, user, n % 128 === 127);
    const { rows } = await sql<{ left: number }>`select
      (select count(*) from orders where user_id = ${user} and status in ('draft', 'open', 'paid', 'refunding')) +
      (select count(*) from refunds r join payments p on p.id = r.payment_id where p.user_id = ${user} and r.status <> 'processed') +
      (select count(*) from environments where user_id = ${user} and (status = 'pending' or desired = 'terminated') and status <> 'terminated') +
      (select count(*) from embedded_gateway_payments g join orders o on o.gateway_order_id = g.order_id
        where o.user_id = ${user} and g.status = 'captured'
          and not exists (select 1 from payments p where p.gateway_payment_id = g.id and p.status = 'captured'
            and p.refund_minor >= g.refunded_minor)) +
      (select count(*) from embedded_gateway_disputes g join embedded_gateway_payments p on p.id = g.payment_id
        join orders o on o.gateway_order_id = p.order_id
        where o.user_id = ${user} and not exists (select 1 from disputes d where d.gateway_dispute_id = g.id and d.status = g.status)) as left`.execute(
      scene.db,
    );
    if (rows[0]?.left === 0) return;
    await sleep(10);
  }
  const { rows } =
    await sql`select o.status, o.lease_token, o.due_at, o.last_error, e.status as environment, e.desired, e.stage, e.lease_token as held, e.due_at, e.last_error as why, now()
    from orders o left join environments e on e.order_id = o.id where o.user_id = ${user}`.execute(scene.db);
  throw new Error(`it does not settle: ${JSON.stringify(rows)}`);
}
