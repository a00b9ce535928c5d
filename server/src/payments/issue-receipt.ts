import type { Selectable } from "kysely";
import type { Tx } from "../database/database.ts";
import type { PaymentsTable } from "../database/payment-tables.ts";

/** G18. The prefix is unique in the database. */
export function invoiceNumber(paymentId: string): string {
  return `INV-${paymentId.slice(0, 11)}`;
}

/** Belongs to the transaction that first sees a payment captured; who paid is written down as they are now. */
export async function issueReceipt(tx: Tx, { id, user_id }: Selectable<PaymentsTable>): Promise<void> {
  const customer = await tx
    .selectFrom("profiles")
    .select(["name", "email"])
    .where("user_id", "=", user_id)
    .executeTakeFirst();
  await tx
    .insertInto("receipts")
    .values({
      payment_id: id,
      number: invoiceNumber(id),
      user_id,
      customer_name: customer?.name ?? "",
      customer_email: customer?.email ?? "",
    })
    .onConflict((conflict) => conflict.column("payment_id").doNothing())
    .execute();
}
