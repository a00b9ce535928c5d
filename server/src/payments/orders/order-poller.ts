import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Loop } from "../../async/start-interval.ts";
import type { Tx } from "../../database/database.ts";
import { backoffMs, fetchDue, finish, inMs, nextDueMs, readyAt, startWorker } from "../../database/work-queue.ts";
import { extendHold, releaseHold, renewHold } from "../../environments/allocation/hold.ts";
import { isAccountDeleted } from "../../environments/homes/home-records.ts";
import type { PaymentsDeps } from "../provider/payments-deps.ts";
import type { ProviderPayment } from "../provider/provider.ts";
import {
  draftSeconds,
  holdEnd,
  holdInPaymentMinutes,
  holdMinutes,
  minutesAfter,
  nextPoll,
} from "../settlement/deadlines.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { stillBuys } from "../settlement/still-buys.ts";
import { isInFlight, syncPayments } from "../settlement/sync-payments.ts";
import { endUnpaidOrder } from "./end-unpaid-order.ts";
import { expireDraft, storeOrder } from "./place-order.ts";
import { checkQuota, type Draft, orderQueue } from "./reserve-order.ts";

type DueOrder = Draft & { readonly now: Date };

const width = 20;
const intervalMs = 5000;
const backoff = { firstMs: 2000, longestMs: 3_600_000 };

/**
 * Polls every due order at the provider, so that a payment is found although the browser died (G12), and expires unpaid
 * orders. Paid orders, which the reconciler delivers, are polled for second captures.
 */
export function startOrderPoller(deps: PaymentsDeps): Loop {
  const { changes, log, pollBudget } = deps;
  let isFirst = true;
  let fetches = 0;
  return startWorker({
    name: "order-poller",
    changes,
    on: ["order"],
    fetch: async () => {
      if (isFirst) await makeUnpaidDue(deps);
      isFirst = false;
      const limit = Math.min(width, pollBudget?.polls() ?? width);
      // Neither partition starves the other: every fourth time paid orders come first.
      const [first, second] = ++fetches % 4 === 0 ? (["paid", "unpaid"] as const) : (["unpaid", "paid"] as const);
      const orders = limit > 0 ? await fetchOrders(deps, first, limit) : [];
      return limit > orders.length ? [...orders, ...(await fetchOrders(deps, second, limit - orders.length))] : orders;
    },
    work: (order) => pollOrder(deps, order),
    nextDueMs: async () => Math.max(await nextOrderMs(deps), pollBudget?.nextPollMs() ?? 0),
    intervalMs,
    log,
  });
}

/** Polls all unpaid orders after a restart, which may have interrupted the call that confirms a payment. */
async function makeUnpaidDue({ db, provider }: PaymentsDeps): Promise<void> {
  await sql`update orders set due_at = now() where status in ('draft', 'open')
    and gateway = ${provider.kind} and mode = ${provider.mode}`.execute(db);
}

/** Each partition has an index of its own: one query over both would scan all orders. */
const partitions = { unpaid: sql`status <> 'paid'`, paid: sql`status = 'paid'` };

type Queue = Pick<PaymentsDeps, "db" | "provider">;

/** The longest wait in proportion to an order's age first, so a new order before an old one; a paid one counts a quarter. */
const urgency = sql`extract(epoch from now() - ${readyAt} + interval '10 s') / extract(epoch from now() - created_at + interval '10 s')
  * case when paid_at is null then 4 else 1 end`;

export async function fetchOrders(
  deps: Queue,
  partition: keyof typeof partitions,
  limit = width,
): Promise<readonly DueOrder[]> {
  return await fetchDue(deps.db, orderQueue, {
    where: ofPartition(deps, partition),
    limit,
    order: urgency,
    compute: { now: sql<Date>`now()` },
    set: { attempts: sql`attempts + 1` },
  });
}

/** Milliseconds until the next order is due. */
export async function nextOrderMs(deps: Queue): Promise<number> {
  const next = (["unpaid", "paid"] as const).map((each) => nextDueMs(deps.db, orderQueue, ofPartition(deps, each)));
  return Math.min(...(await Promise.all(next)));
}

function ofPartition({ provider }: Queue, partition: keyof typeof partitions) {
  return sql`${partitions[partition]} and gateway = ${provider.kind} and mode = ${provider.mode}`;
}

async function pollOrder(deps: PaymentsDeps, order: DueOrder): Promise<void> {
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
 * A draft whose request is gone: no order is created for it, but one that exists at the provider is stored. Past its lifetime a
 * draft expires even if the provider is unreachable: its id never left the server, so nobody can pay it.
 */
async function pollDraft(deps: PaymentsDeps, draft: DueOrder): Promise<void> {
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
 * Captures a payment that was authorized after its order ended, only if GPUs and name can be held again; otherwise the
 * provider returns it (C31). Extensions have nothing to hold.
 */
async function captureLate(deps: PaymentsDeps, order: DueOrder, attempt: ProviderPayment): Promise<void> {
  if (order.extends || attempt.status !== "authorized" || (order.status !== "cancelled" && order.status !== "expired"))
    return;
  if (attempt.amountMinor !== order.amount_minor || attempt.currency !== order.currency) return;
  const { db, provider } = deps;
  const { id: orderId, user_id: userId, subdomain, gpu_count: gpuCount } = order;
  if (await isAccountDeleted(db, userId)) return;
  const held = await db.transaction().execute(async (tx) => {
    // Locks the order before its name, as settlePayment may do concurrently (docs/internals/locking.md).
    const { rows } =
      await sql`select 1 from orders where id = ${orderId} and status = ${order.status} for update`.execute(tx);
    if (rows.length === 0 || !(await stillBuys(tx, deps.catalogue, order, order.now))) return false;
    if (!(await mayHold(tx, deps, userId, gpuCount))) return false;
    const holdUntil = minutesAfter(new Date(), holdMinutes);
    return (await renewHold(tx, { orderId, userId, subdomain, gpuCount, holdUntil })).ok;
  });
  if (!held) return;
  try {
    await settlePayment(deps, await provider.capture(attempt.id, attempt.amountMinor, attempt.currency));
  } catch (error) {
    await db.transaction().execute((tx) => releaseHold(tx, orderId));
    throw error;
  }
}

/** An account at its quota by now buys nothing late either. */
async function mayHold(tx: Tx, deps: PaymentsDeps, userId: string, gpuCount: number): Promise<boolean> {
  try {
    await checkQuota(tx, deps, userId, gpuCount);
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** Expires an unpaid order, or extends its hold once to half an hour in all while a payment is in flight. */
async function endHold(deps: PaymentsDeps, order: DueOrder, inFlight: boolean): Promise<void> {
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

/** Writes nothing if a settlement or an end has removed the lease meanwhile. */
async function reschedule(deps: PaymentsDeps, order: DueOrder, error: unknown): Promise<void> {
  const { db } = deps;
  const row = await db.selectFrom("orders").selectAll().where("id", "=", order.id).executeTakeFirstOrThrow();
  if (error && row.status === "open" && minutesAfter(row.created_at, holdInPaymentMinutes) <= order.now)
    await endUnpaidOrder(deps, row.id, "expired");
  const soonMs = row.status === "draft" ? 5000 : error ? backoffMs(order.attempts, backoff) : undefined;
  await finish(db, orderQueue, order, {
    due_at: soonMs === undefined ? nextPoll(row, order.now) : inMs(soonMs),
    last_error: error ? String(error).slice(0, 500) : null,
    ...(!error && { attempts: 0 }),
  });
}
