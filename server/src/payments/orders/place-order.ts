import type { createOrder, Input } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { isUniqueViolation, type Tx } from "../../database/database.ts";
import { releaseHold } from "../../environments/allocation/hold.ts";
import { notFound } from "../../http/mount.ts";
import { checkAccountHold } from "../disputes/account-holds.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import { isFromProvider, isInFlight, providerUnavailable, syncPayments } from "../settlement/sync-payments.ts";
import { checkLimits, checkTypeAvailable } from "./check-quota.ts";
import { claimDraft, type Draft, insertDraft, openDraft } from "./open-draft.ts";
import { checkOrderRequest, type OrderRequest } from "./price-request.ts";
import { waitUntil } from "./wait-until.ts";

/**
 * create_order: one open order per user. The same request gets the same order, another one supersedes it once the
 * provider says that nothing is in flight (docs/internals/money.md). Stock and name are held before the provider is
 * asked.
 */
export async function placeOrder(
  deps: PaymentsDeps,
  userId: string,
  body: Input<typeof createOrder>["body"],
): Promise<OrderRow> {
  return placeRequest(deps, userId, checkOrderRequest(body, userId, deps.provider.minimumMinor));
}

export async function placeRequest(deps: PaymentsDeps, userId: string, request: OrderRequest): Promise<OrderRow> {
  for (let tries = 0; tries < 5; tries++) {
    const unpaid = await findUnpaid(deps, userId);
    if (!unpaid) {
      const draft = await insertChecked(deps, userId, request);
      if (draft) return openDraft(deps, draft);
    } else if (unpaid.status === "draft") {
      const order = await takeOverDraft(deps, unpaid, request);
      if (order) return order;
    } else if (isSameRequest(deps, unpaid, request)) {
      return await recheckAccount(deps, unpaid);
    } else {
      await supersede(deps, unpaid);
    }
  }
  throw new AppError("unavailable", "Another order of yours is being placed. Try again.", { retryAfterSeconds: 5 });
}

/**
 * The dialog was dismissed (G13): cancels what is unpaid after asking the provider, and observes what is in flight
 * instead. True when no payment is expected any more. An order that is absent or another's: the same 404.
 */
export async function clearOrder(deps: PaymentsDeps, userId: string, gatewayOrderId: string): Promise<boolean> {
  if (!/^\w{1,64}$/.test(gatewayOrderId)) throw notFound();
  const order = await deps.db
    .selectFrom("orders")
    .selectAll()
    .where("gateway_order_id", "=", gatewayOrderId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  if (!order) throw notFound();
  if (order.status !== "open") return order.status === "cancelled" || order.status === "expired";
  if (isFromProvider(deps, order) && (await hasPaymentInFlight(deps, order))) return false;
  return endUnpaidOrder(deps, order.id, "cancelled");
}

/** Ends an open order and frees what it holds; false when it is not open any more. Polls go on: money can still come. */
export async function endUnpaidOrder(
  { db }: PaymentsDeps,
  id: string,
  status: "cancelled" | "expired",
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const ended = await tx
      .updateTable("orders")
      .set({ status, closed_at: sql`now()`, claim: null })
      .where("id", "=", id)
      .where("status", "=", "open")
      .returning("id")
      .executeTakeFirst();
    if (ended) await releaseHold(tx, id);
    return ended !== undefined;
  });
}

/**
 * Ends what a user has not paid, in the transaction that deletes the account; all the user's orders are locked, so a
 * payment that is being settled comes before it or finds nobody. Money that is under way still goes back: polls go on.
 */
export async function endUnpaidOrdersOf(tx: Tx, userId: string): Promise<void> {
  const orders = tx.selectFrom("orders").select(["id", "status"]).where("user_id", "=", userId).orderBy("id");
  for (const { id, status } of await orders.forUpdate().execute()) {
    if (status !== "draft" && status !== "open") continue;
    const ended =
      status === "open" ? { status: "cancelled" as const } : { status: "expired" as const, next_check_at: null };
    await tx
      .updateTable("orders")
      .set({ ...ended, closed_at: sql`now()`, claim: null })
      .where("id", "=", id)
      .execute();
    await releaseHold(tx, id);
  }
}

function findUnpaid({ db }: PaymentsDeps, userId: string): Promise<OrderRow | undefined> {
  return db
    .selectFrom("orders")
    .selectAll()
    .where("user_id", "=", userId)
    .where("status", "in", ["draft", "open"])
    .executeTakeFirst();
}

/** Within its hold, not its grace: whoever opens the dialog now should have time to pay. */
function isSameRequest(deps: PaymentsDeps, order: OrderRow, request: OrderRequest): boolean {
  const same = order.request_hash === request.hash && order.extends === (request.extends ?? null);
  return same && isFromProvider(deps, order) && order.hold_until > new Date();
}

/** Undefined when a parallel call of the same user was first. */
async function insertChecked(deps: PaymentsDeps, userId: string, request: OrderRequest): Promise<Draft | undefined> {
  const write = async (tx: Tx) => {
    await checkAccountHold(tx, userId);
    await checkLimits(tx, deps, userId, request);
    if (!request.extends) await checkTypeAvailable(tx, request);
    return insertDraft(tx, deps, userId, request);
  };
  try {
    return await deps.db.transaction().execute(write);
  } catch (error) {
    if (isUniqueViolation(error, "one_unpaid_order_per_user")) return undefined;
    throw error;
  }
}

/** Waits for the call that holds a draft's claim, or goes on with a draft that was left behind. */
async function takeOverDraft(
  deps: PaymentsDeps,
  draft: OrderRow,
  request: OrderRequest,
): Promise<OrderRow | undefined> {
  const { db, changes } = deps;
  const found = await waitUntil({
    changes,
    userId: draft.user_id,
    timeoutMs: 10_000,
    fallbackMs: 1000,
    read: async () => {
      const row = await db.selectFrom("orders").selectAll().where("id", "=", draft.id).executeTakeFirstOrThrow();
      if (row.status !== "draft") return { row };
      const claimed = await claimDraft(deps, draft.id);
      return claimed && { claimed };
    },
  });
  if (!found)
    throw new AppError("unavailable", "Another order of yours is being placed. Try again.", { retryAfterSeconds: 5 });
  const row = found.claimed ? await openDraft(deps, found.claimed) : found.row;
  return row?.status === "open" && isSameRequest(deps, row, request) ? await recheckAccount(deps, row) : undefined;
}

/** The same order again, unless the account's orders were stopped since it was opened. */
async function recheckAccount({ db }: PaymentsDeps, order: OrderRow): Promise<OrderRow> {
  await db.transaction().execute((tx) => checkAccountHold(tx, order.user_id));
  return order;
}

async function supersede(deps: PaymentsDeps, order: OrderRow): Promise<void> {
  if (isFromProvider(deps, order) && (await hasPaymentInFlight(deps, order)))
    throw new AppError("order_in_payment", `A payment for ${order.subdomain} is under way. Wait until it is settled.`, {
      money: "being_checked",
    });
  await endUnpaidOrder(deps, order.id, "cancelled");
}

async function hasPaymentInFlight(deps: PaymentsDeps, order: OrderRow): Promise<boolean> {
  try {
    return (await syncPayments(deps, order)).some(isInFlight);
  } catch (error) {
    throw providerUnavailable(deps, error, "being_checked");
  }
}
