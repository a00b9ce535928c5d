import type { Credit } from "@berth/contract";
import { sql } from "kysely";
import type { Sql } from "../../database/database.ts";

/** Returns the open credits of a user, oldest first: all are added to the next environment (G107, G153). */
export async function readCredits(database: Sql, userId: string): Promise<readonly Credit[]> {
  const { rows } = await sql<Omit<Credit, "granted_at"> & { readonly granted_at: Date }>`
    select id, gpu_hours, source, note, alone, granted_at from granted_credits
    where user_id = ${userId} and used_by_order is null and revoked_at is null
    union all
    select id, gpu_hours, 'undelivered', '', false, granted_at from time_credits
    where user_id = ${userId} and used_by_order is null
    order by granted_at, id`.execute(database);
  return rows.map((row) => ({ ...row, granted_at: row.granted_at.toISOString() }));
}
