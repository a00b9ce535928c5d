import { type RawBuilder, sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Loop } from "../../async/start-interval.ts";
import type { Tx } from "../../database/database.ts";
import { startNotifiedLoop } from "../../database/woken-loop.ts";
import { extendHold, hold, releaseHold } from "../../environments/allocation/hold.ts";
import { isAccountDeleted } from "../../environments/homes/home-records.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import type { Provider, ProviderPayment } from "../provider/provider.ts";
import {
  draftSeconds,
  holdEnd,
  holdInPaymentMinutes,
  holdMinutes,
  minutesAfter,
  nextPoll,
} from "../settlement/deadlines.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { isInFlight, syncPayments } from "../settlement/sync-payments.ts";
import { endUnpaidOrder } from "./end-unpaid-order.ts";
import { expireDraft, storeOrder } from "./place-order.ts";
import { checkQuota, type Draft } from "./reserve-order.ts";

type Claimed = Draft & { readonly now: Date };

const width = 20;
const intervalMs = 5000;

/**
 * Asks the provider about every order whose time has come, so that a payment is found though the browser died (G12),
 * and ends what nobody pays. Orders that wait for delivery are the reconciler's; they are asked about for second captures.
 */
export function startOrderPoller(deps: PaymentsDeps): Loop {
  const { changes, log } = deps;
  let first = true;
  return startNotifiedLoop({
    name: "order-poller",
    changes,
    on: ["order"],
    work: async () => {
      if (first) await makeUnpaidDue(deps);
      first = false;
      const orders = [...(await claimOrders(deps, "watch")), ...(await claimOrders(deps, "paid"))];
      await Promise.all(orders.map((order) => pollOrder(deps, order)));
      return orders.length > 0 ? 0 : untilNext(deps);
    },
    intervalMs,
    log,
  });
}

/** A restart may have cut off the very call that was to deliver: what is unpaid is asked about at once. */
async function makeUnpaidDue({ db, provider }: PaymentsDeps): Promise<void> {
  await sql`update orders set next_check_at = now() where status in ('draft', 'open') and (claim is null or next_check_at <= now())
    and gateway = ${provider.kind} and mode = ${provider.mode}`.execute(db);
}

export async function claimOrders({ db, provider }: PaymentsDeps, lane: "watch" | "paid"): Promise<Claimed[]> {
  const ofLane = lane === "paid" ? sql`status = 'paid'` : sql`status <> 'paid'`;
  const { rows } = await sql<Claimed>`
    update orders set claim = gen_random_uuid(), next_check_at = now() + interval '30 seconds', attempts = attempts + 1
    where id in (select id from orders where next_check_at <= now() and ${ofLane}
      and gateway = ${provider.kind} and mode = ${provider.mode}
      order by next_check_at limit ${width} for update skip locked)
    returning *, now() as now`.execute(db);
  return rows;
}

export async function untilNext({ db, provider }: PaymentsDeps): Promise<number> {
  const { rows } = await nextDue(provider).execute(db);
  return Math.max(0, rows[0]?.ms ?? intervalMs);
}

/** Each lane by its own index: one minimum over both would read every order there ever was. */
export function nextDue({ kind, mode }: Pick<Provider, "kind" | "mode">): RawBuilder<{ ms: number | null }> {
  return sql`
    select extract(epoch from least(
      (select min(next_check_at) from orders where status = 'paid' and gateway = ${kind} and mode = ${mode}),
      (select min(next_check_at) from orders where status <> 'paid' and gateway = ${kind} and mode = ${mode})) - now()) * 1000 as ms`;
}

async function pollOrder(deps: PaymentsDeps, order: Claimed): Promise<void> {
  try {
    if (order.status === "draft") return await pollDraft(deps, order);
    const attempts = await syncPayments(deps, order);
    for (const attempt of attempts) await captureLate(deps, order, attempt);
    if (order.status === "open" && holdEnd(order) <= order.now) await endHold(deps, order, attempts.some(isInFlight));
    await reschedule(deps, order, undefined);
  } catch (error) {
    deps.log.warn({ event: "order.check_failed", orderId: order.id, err: error });
    await reschedule(deps, order, error);
  }
}

/**
 * Its caller is gone: no order is made for nobody, but one that was made is kept. Past its lifetime a draft ends even if
 * the provider cannot be asked: nobody was ever told its id, so nobody can pay it.
 */
async function pollDraft(deps: PaymentsDeps, draft: Claimed): Promise<void> {
  const isOver = draft.created_at.getTime() + draftSeconds * 1000 <= draft.now.getTime();
  const made = await deps.provider.findOrderByReceipt(draft.id).catch((error: unknown) => {
    if (!isOver) throw error;
    deps.log.warn({ event: "order.check_failed", orderId: draft.id, err: error });
  });
  if (made) await storeOrder(deps, draft, made);
  else if (isOver) await expireDraft(deps, draft);
  else await reschedule(deps, draft, undefined);
}

/**
 * Authorised after the order was given up: captured only with the stock in hand, else the provider returns it (C31).
 * More hours for an environment are nothing that can be held.
 */
async function captureLate(deps: PaymentsDeps, order: OrderRow, attempt: ProviderPayment): Promise<void> {
  if (order.extends || attempt.status !== "authorized" || (order.status !== "cancelled" && order.status !== "expired"))
    return;
  if (attempt.amountMinor !== order.amount_minor || attempt.currency !== order.currency) return;
  const { db, provider } = deps;
  const { id: orderId, user_id: userId, subdomain, gpu_count: gpuCount } = order;
  if (await isAccountDeleted(db, userId)) return;
  const held = await db.transaction().execute(async (tx) => {
    // The order before its name, as in settlePayment, which may be at the same payment now (docs/internals/locking.md).
    const { status } = await tx
      .selectFrom("orders")
      .select("status")
      .where("id", "=", orderId)
      .forUpdate()
      .executeTakeFirstOrThrow();
    if (status !== order.status || !(await mayHold(tx, deps, userId, gpuCount))) return false;
    const holdUntil = minutesAfter(new Date(), holdMinutes);
    return (await hold(tx, { orderId, userId, subdomain, gpuCount, holdUntil })).ok;
  });
  if (!held) return;
  try {
    await settlePayment(deps, await provider.capture(attempt.id, attempt.amountMinor, attempt.currency));
  } catch (error) {
    await db.transaction().execute((tx) => releaseHold(tx, orderId));
    throw error;
  }
}

/** An account whose orders are stopped, or that has its GPUs by now, buys nothing late either. */
async function mayHold(tx: Tx, deps: PaymentsDeps, userId: string, gpuCount: number): Promise<boolean> {
  try {
    await checkQuota(tx, deps, userId, gpuCount);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** The time to pay is over. Once, a buyer who is paying right now gets half an hour in all. */
async function endHold(deps: PaymentsDeps, order: Claimed, inFlight: boolean): Promise<void> {
  const longest = minutesAfter(order.created_at, holdInPaymentMinutes);
  if (!inFlight || longest <= order.hold_until) return void (await endUnpaidOrder(deps, order.id, "expired"));
  await deps.db.transaction().execute(async (tx) => {
    const query = tx
      .updateTable("orders")
      .set({ hold_until: longest })
      .where("id", "=", order.id)
      .where("status", "=", "open");
    if (await query.returning("id").executeTakeFirst()) await extendHold(tx, order.id, longest);
  });
}

/** Guarded by the claim: whoever settled or ended the order meanwhile dropped it, and knows better. */
async function reschedule(deps: PaymentsDeps, order: Claimed, error: unknown): Promise<void> {
  const { db } = deps;
  const row = await db.selectFrom("orders").selectAll().where("id", "=", order.id).executeTakeFirstOrThrow();
  if (error && row.status === "open" && minutesAfter(row.created_at, holdInPaymentMinutes) <= order.now)
    await endUnpaidOrder(deps, row.id, "expired");
  const backOffMs = Math.min(1000 * 2 ** Math.min(order.attempts, 12), 3_600_000);
  const soonMs = row.status === "draft" ? 5000 : error ? backOffMs : undefined;
  await db
    .updateTable("orders")
    .set({
      claim: null,
      next_check_at: soonMs === undefined ? nextPoll(row, order.now) : new Date(order.now.getTime() + soonMs),
      last_error: error ? String(error).slice(0, 500) : null,
      ...(!error && { attempts: 0 }),
    })
    .where("id", "=", order.id)
    .where("claim", "=", order.claim)
    .execute();
}
