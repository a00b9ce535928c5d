import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";

export async function countPasskeys(db: Sql, userId: string): Promise<number> {
  const { held } = await db
    .selectFrom("identity_passkeys")
    .select(sql<number>`count(*)::int`.as("held"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return held;
}

/** Returns how many there were. The caller holds the user's lock, ends sign-ins and tells the owner. */
export async function dropPasskeys(tx: Tx, userId: string): Promise<number> {
  const { numDeletedRows } = await tx.deleteFrom("identity_passkeys").where("user_id", "=", userId).executeTakeFirst();
  return Number(numDeletedRows);
}
