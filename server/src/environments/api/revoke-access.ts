import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";
import { requireOpenAuthSession } from "../../identity/local/auth-sessions.ts";
import { lockOwned, type Owned } from "../lock-owned.ts";
import { newToken } from "../new-token.ts";

/**
 * Revokes what others may hold of a user's environments: share links, links of downloads, and every `jupyter_token`
 * (G109). Runs in the transaction that ends the sign-ins, which ends the cookies too; the gateway reads it from the rows.
 * The environments are locked first, so a new share link is revoked here or refused by `createShareLink`.
 */
export async function revokeAccess(tx: Tx, userId: string): Promise<{ shareLinks: number; environments: number }> {
  const rented = await sql<{ id: string }>`
    select id from environments where user_id = ${userId} and status <> 'terminated'
    order by id for no key update`.execute(tx);
  for (const { id } of rented.rows) await replaceSecret(tx, id);
  const links = await sql<{ worked: boolean }>`
    update share_links set revoked_at = now() where user_id = ${userId} and revoked_at is null
    returning expires_at > now() as worked`.execute(tx);
  await sql`delete from archive_codes where user_id = ${userId}`.execute(tx);
  await sql`select pg_notify('changes', json_build_object('kind', 'rights', 'id', ${userId}::text, 'user', ${userId}::text)::text)`.execute(
    tx,
  );
  return { shareLinks: links.rows.filter(({ worked }) => worked).length, environments: rented.rows.length };
}

/**
 * Returns a new `jupyter_token` (G95, G109). Visits by the old one end within 2 s; share links and the owner's own tabs stay.
 * `sessionId` is the sign-in of the caller, which a password change ends.
 */
export async function rotateSecret(db: Db, owned: Owned, sessionId: string | null): Promise<string> {
  return await db.transaction().execute(async (tx) => {
    const { subdomain, status, desired } = await lockOwned(tx, owned);
    if (status === "terminated" || desired === "terminated")
      throw new AppError("action_not_allowed", `${subdomain} has ended and has no password any more`);
    await requireOpenAuthSession(tx, sessionId);
    return await replaceSecret(tx, owned.id);
  });
}

async function replaceSecret(tx: Tx, id: string): Promise<string> {
  const secret = newToken();
  await tx.updateTable("environments").set({ secret }).where("id", "=", id).execute();
  return secret;
}
