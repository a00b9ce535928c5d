import type { RowOf, Tx } from "../../database/database.ts";

/** Locks the order, then its payment: the lock order of all money (docs/internals/locking.md). */
export async function lockPayment(tx: Tx, paymentId: string): Promise<RowOf<"payments">> {
  const payments = tx.selectFrom("payments").selectAll().where("id", "=", paymentId);
  const { order_id } = await payments.executeTakeFirstOrThrow();
  await tx.selectFrom("orders").select("id").where("id", "=", order_id).forUpdate().execute();
  return payments.forUpdate().executeTakeFirstOrThrow();
}

/** Selects the payment that settled an order. */
export function settlingPayment(tx: Tx, orderId: string) {
  return tx.selectFrom("payments").selectAll().where("order_id", "=", orderId).where("settles_order", "=", true);
}
