import { AppError } from "../../app-error.ts";
import type { Tx } from "../../database/database.ts";
import { notFound } from "../../http/mount.ts";
import { endOpenOrder, endUnpaidOrders } from "../disputes/end-unpaid-orders.ts";
import type { OrderRow, PaymentsDeps } from "../provider/payments-deps.ts";
import { isFromProvider, isInFlight, providerUnavailable, syncPayments } from "../settlement/sync-payments.ts";

/** Ends an open order, in a transaction of its own; returns false when it is no longer open. */
export async function endUnpaidOrder(
  { db }: PaymentsDeps,
  id: string,
  status: "cancelled" | "expired",
): Promise<boolean> {
  return db.transaction().execute((tx) => endOpenOrder(tx, id, status));
}

/**
 * Ends a user's unpaid orders, in the transaction that deletes the account. Locks all orders of the user, so that a
 * settlement happens before it or finds a deleted account. Polling goes on, so that late money is refunded.
 */
export async function endUnpaidOrdersOf(tx: Tx, userId: string): Promise<void> {
  const orders = tx.selectFrom("orders").select(["id", "status"]).where("user_id", "=", userId).orderBy("id");
  await endUnpaidOrders(tx, await orders.forUpdate().execute());
}

/**
 * Cancels an unpaid order after its dialog was dismissed (G13), unless the provider has a payment in flight, which is
 * settled instead. Returns true when no payment is expected any more.
 */
export async function clearOrder(deps: PaymentsDeps, userId: string, gatewayOrderId: string): Promise<boolean> {
  if (!/^\w{1,64}$/.test(gatewayOrderId)) throw notFound();
  const order = await findOwnOrder(deps, userId, gatewayOrderId);
  if (order.status !== "open") return order.status === "cancelled" || order.status === "expired";
  if (isFromProvider(deps, order) && (await hasPaymentInFlight(deps, order))) return false;
  return endUnpaidOrder(deps, order.id, "cancelled");
}

/** Finds an order by the provider's id. Throws the same `not_found` for an unknown order and another user's. */
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

/** Cancels an order for a newer one of the same user. Throws `order_in_payment` while a payment of it is in flight. */
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
