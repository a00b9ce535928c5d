import type { Sql } from "../database/database.ts";

/** Whether the account is suspended (G69). Its sign-ins have ended; this also stops what was under way. */
export async function isSuspended(sql: Sql, userId: string): Promise<boolean> {
  const row = await sql
    .selectFrom("account_suspensions")
    .select("id")
    .where("user_id", "=", userId)
    .where("lifted_at", "is", null)
    .executeTakeFirst();
  return row !== undefined;
}
