import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** One browser signed in to one environment. */
export interface Grant {
  readonly id: string;
  readonly userId: string;
  readonly environmentId: string;
  /** Came in by a share link, and ends with it; undefined for the owner. */
  readonly share?: { readonly id: string; readonly expiresAtMs: number };
}

/** A link's end comes without an event. */
export function isUnexpired({ share }: Grant, nowMs: number): boolean {
  return share === undefined || share.expiresAtMs > nowMs;
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
    .leftJoin("share_links", "share_links.id", "grants.share_id")
    .select(["grants.id", "grants.user_id", "grants.environment_id", "share_id", "share_links.expires_at"])
    .where("grants.revoked_at", "is", null)
    .where("grants.created_at", ">", new Date(Date.now() - grantDays * 86_400_000));
  if (id !== undefined) query = query.where("grants.id", "=", id);
  const rows = await query.execute();
  const held = new Set(rows.map((row) => row.id));
  // Only what was there before the query may leave: one may have been added meanwhile.
  for (const known of id === undefined ? before : [id]) if (!held.has(known)) grants.delete(known);
  for (const { id: known, user_id: userId, environment_id: environmentId, share_id, expires_at } of rows) {
    const share = share_id && expires_at ? { share: { id: share_id, expiresAtMs: expires_at.getTime() } } : {};
    grants.set(known, { id: known, userId, environmentId, ...share });
  }
}

/** Codes that are spent or over, grants that nothing honours any more, and links that ended a month ago. */
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
  await sql`delete from share_links where coalesce(revoked_at, expires_at) < now() - interval '30 days'`.execute(db);
}
