import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** One browser signed in to one environment. */
export interface Grant {
  readonly id: string;
  readonly userId: string;
  readonly environmentId: string;
  /** The port at whose host it is valid; undefined: at JupyterLab's (G387). */
  readonly port?: number | undefined;
  /** The share link of a guest, with which the grant ends; undefined for the owner. */
  readonly share?: { readonly id: string; readonly expiresAtMs: number };
}

/** The expiry of a link sends no notification. */
export function isUnexpired({ share }: Grant, nowMs: number): boolean {
  return share === undefined || share.expiresAtMs > nowMs;
}

/** All valid grants by id. */
export type Grants = Map<string, Grant>;

/** Lifetime of a grant, unless it is revoked. */
export const grantDays = 30;

/** Reads all valid grants, or one; revoked and expired ones are removed from the map. */
export async function loadGrants(db: Db, grants: Grants, id?: string): Promise<void> {
  const before = new Set(grants.keys());
  let query = db
    .selectFrom("grants")
    .leftJoin("share_links", "share_links.id", "grants.share_id")
    .select(["grants.id", "grants.user_id", "grants.environment_id", "port", "share_id", "share_links.expires_at"])
    .where("grants.revoked_at", "is", null)
    .where("grants.created_at", ">", new Date(Date.now() - grantDays * 86_400_000));
  if (id !== undefined) query = query.where("grants.id", "=", id);
  const rows = await query.execute();
  const held = new Set(rows.map((row) => row.id));
  // Only grants from before the query are removed: one may have been added since.
  for (const known of id === undefined ? before : [id]) if (!held.has(known)) grants.delete(known);
  for (const { id: known, user_id: userId, environment_id: environmentId, port, share_id, expires_at } of rows) {
    const share = share_id && expires_at ? { share: { id: share_id, expiresAtMs: expires_at.getTime() } } : {};
    grants.set(known, { id: known, userId, environmentId, port: port ?? undefined, ...share });
  }
}

/** Deletes used and expired codes, expired or revoked grants, and links that ended 30 days ago. */
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
