import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** Lifts all holds of an account after lost disputes. Returns how many were lifted. */
export async function liftAccountHold(db: Db, userId: string): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable("account_holds")
    .set({ lifted_at: sql`now()` })
    .where("user_id", "=", userId)
    .where("lifted_at", "is", null)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}
