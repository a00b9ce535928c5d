import type { RowOf, Tx } from "../../database/database.ts";

/** Its order first, as everybody who writes about money: two that lock both can never wait for each other. */
export async function lockPayment(tx: Tx, paymentId: string): Promise<RowOf<"payments">> {
  const payments = tx.selectFrom("payments").selectAll().where("id", "=", paymentId);
  const { order_id } = await payments.executeTakeFirstOrThrow();
  await tx.selectFrom("orders").select("id").where("id", "=", order_id).forUpdate().execute();
  return payments.forUpdate().executeTakeFirstOrThrow();
}
