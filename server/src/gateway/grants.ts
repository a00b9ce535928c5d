import { sql } from "kysely";
import type { Db } from "../database/database.ts";

/** One browser signed in to one environment. */
export interface Grant {
  readonly id: string;
  readonly userId: string;
  readonly environmentId: string;
}

/** Every grant that holds, by id. */
export type Grants = Map<string, Grant>;

/** How long a sign-in lasts, unless it is revoked. */
export const grantDays = 30;

/** Reads every grant that holds, or one; what is revoked or too old leaves the map. */
export async function loadGrants(db: Db, grants: Grants, id?: string): Promise<void> {
  const before = new Set(grants.keys());
  let query = db
    .selectFrom("grants")
    .select(["id", "user_id", "environment_id"])
    .where("revoked_at", "is", null)
    .where("created_at", ">", new Date(Date.now() - grantDays * 86_400_000));
  if (id !== undefined) query = query.where("id", "=", id);
  const rows = await query.execute();
  const held = new Set(rows.map((row) => row.id));
  // Only what was there before the query may leave: one may have been added meanwhile.
  for (const known of id === undefined ? before : [id]) if (!held.has(known)) grants.delete(known);
  for (const row of rows) grants.set(row.id, { id: row.id, userId: row.user_id, environmentId: row.environment_id });
}

/** Codes that are spent or over, and grants that nothing honours any more. */
export async function purgeSignIns(db: Db): Promise<void> {
  await db.deleteFrom("sign_in_codes").where("expires_at", "<", sql<Date>`now() - interval '1 day'`).execute();
  await db
    .deleteFrom("grants")
    .where(
      sql<Date>`coalesce(revoked_at, created_at + make_interval(days => ${grantDays}))`,
      "<",
      sql<Date>`now() - interval '1 day'`,
    )
    .execute();
}
