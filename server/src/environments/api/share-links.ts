import { createHash, randomBytes } from "node:crypto";
import { maxShares, type Share, type ShareTerm, shareHours } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, RowOf, Sql } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { notFound } from "../../http/mount.ts";
import { requireOpenAuthSession } from "../../identity/local/auth-sessions.ts";
import { byEnvironment } from "../by-environment.ts";
import { isEnvironmentId } from "../environment.ts";
import { lockOwned, type Owned } from "../lock-owned.ts";

/**
 * Creates a link (G50); only the hash of its secret is stored. The lock of the environment's row guards the limit.
 * `sessionId` is the sign-in of the caller; a password change ends it and revokes every link (`revokeAccess`).
 */
export async function createShareLink(db: Db, owned: Owned, term: ShareTerm, sessionId: string | null = null) {
  return await db.transaction().execute(async (tx) => {
    const { subdomain, status, desired } = await lockOwned(tx, owned);
    await requireOpenAuthSession(tx, sessionId);
    if (status === "terminated" || desired === "terminated")
      throw new AppError("action_not_allowed", `${subdomain} has ended and cannot be shared`);
    if (((await shareLinksOf(tx, [owned.id])).get(owned.id) ?? []).length >= maxShares)
      throw new AppError("action_not_allowed", `${maxShares} links to ${subdomain} are open. Revoke one of them first`);
    const secret = randomBytes(32).toString("base64url");
    const { rows } = await sql<RowOf<"share_links">>`
      insert into share_links (id, hash, user_id, environment_id, expires_at)
      values (${newId()}, ${shareHash(secret)}, ${owned.userId}, ${owned.id},
        now() + make_interval(hours => ${shareHours[term]})) returning *`.execute(tx);
    return { share: rows.map(onWire)[0] as Share, secret, subdomain };
  });
}

/** Ends the link and the visits by it, in one transaction; a second call is a success. */
export async function revokeShareLink(db: Db, owned: Owned, shareId: string): Promise<void> {
  if (!isEnvironmentId(shareId)) throw notFound();
  await db.transaction().execute(async (tx) => {
    await lockOwned(tx, owned);
    const { rows } = await sql`
      update share_links set revoked_at = coalesce(revoked_at, now())
      where id = ${shareId} and environment_id = ${owned.id} and user_id = ${owned.userId} returning id`.execute(tx);
    if (rows.length === 0) throw notFound();
    await sql`update grants set revoked_at = now() where share_id = ${shareId} and revoked_at is null`.execute(tx);
  });
}

/** The valid links by environment, newest first. */
export async function shareLinksOf(db: Sql, environmentIds: readonly string[]): Promise<ReadonlyMap<string, Share[]>> {
  const { rows } = await sql<RowOf<"share_links">>`
    select * from share_links
    where environment_id = any(${[...environmentIds]}) and revoked_at is null and expires_at > now()
    order by created_at desc, id`.execute(db);
  return byEnvironment(rows, onWire);
}

export function shareHash(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}

function onWire({ id, created_at, expires_at, views, last_viewed_at }: RowOf<"share_links">): Share {
  return {
    ...{ id, views, created_at: created_at.toISOString(), expires_at: expires_at.toISOString() },
    last_viewed_at: last_viewed_at?.toISOString() ?? null,
  };
}
