import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Tx } from "../../database/database.ts";
import { noLease } from "../../database/work-queue.ts";
import { releaseHold } from "../../environments/allocation/hold.ts";
import { notFound } from "../../http/mount.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import { isFromProvider, isInFlight, providerUnavailable, syncPayments } from "../settlement/sync-payments.ts";

/** Ends an open order and frees what it holds; false when it is not open any more. Polls go on: money can still come. */
export async function endUnpaidOrder(
  { db }: PaymentsDeps,
  id: string,
  status: "cancelled" | "expired",
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const ended = await tx
      .updateTable("orders")
      .set({ status, closed_at: sql`now()`, ...noLease })
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
    const ended = status === "open" ? { status: "cancelled" as const } : { status: "expired" as const, due_at: null };
    await tx
      .updateTable("orders")
      .set({ ...ended, closed_at: sql`now()`, ...noLease })
      .where("id", "=", id)
      .execute();
    await releaseHold(tx, id);
  }
}

/**
 * The dialog was dismissed (G13): cancels what is unpaid after asking the provider, and settles what is in flight
 * instead. True when no payment is expected any more.
 */
export async function clearOrder(deps: PaymentsDeps, userId: string, gatewayOrderId: string): Promise<boolean> {
  if (!/^\w{1,64}$/.test(gatewayOrderId)) throw notFound();
  const order = await findOwnOrder(deps, userId, gatewayOrderId);
  if (order.status !== "open") return order.status === "cancelled" || order.status === "expired";
  if (isFromProvider(deps, order) && (await hasPaymentInFlight(deps, order))) return false;
  return endUnpaidOrder(deps, order.id, "cancelled");
}

/** By the provider's id. Throws the same `not_found` for an order that is absent or another's. */
export async function findOwnOrder({ db }: PaymentsDeps, userId: string, gatewayOrderId: string): Promise<OrderRow> {
  const order = await db
    .selectFrom("orders")
    .selectAll()
    .where("gateway_order_id", "=", gatewayOrderId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  if (!order) throw notFound();
  return order;
}

/** Makes room for another order of the same user. Throws `order_in_payment` while a payment of this one is under way. */
export async function supersede(deps: PaymentsDeps, order: OrderRow): Promise<void> {
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
