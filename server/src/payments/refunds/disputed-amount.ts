import type { Sql } from "../../database/database.ts";

/** How much of a payment a bank took back and counts against it, minor units of its currency. */
export async function disputedMinor(sql: Sql, paymentId: string): Promise<number> {
  const { sum } = await sql
    .selectFrom("disputes")
    .select((row) => row.fn.coalesce(row.fn.sum<number>("counted_minor"), row.lit(0)).as("sum"))
    .where("payment_id", "=", paymentId)
    .executeTakeFirstOrThrow();
  return sum;
}
