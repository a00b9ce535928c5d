import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";
import { requireOpenSession } from "../../identity/local/auth-sessions.ts";
import { newToken } from "../new-token.ts";
import { lockOwned, type Owned } from "../owned-environment.ts";

/**
 * Revokes what others may hold of a user's environments: share links, links of downloads, and every `jupyter_token`
 * (G109). Runs in the transaction that ends the sign-ins, which ends the cookies too; the gateway reads it from the rows.
 * The environments are locked first, so a new share link is revoked here or refused by `createShareLink`.
 */
export async function revokeAccess(tx: Tx, userId: string): Promise<{ shareLinks: number; environments: number }> {
  const rented = await tx
    .selectFrom("environments")
    .select("id")
    .where("user_id", "=", userId)
    .where("status", "<>", "terminated")
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
  for (const { id } of rented) await replaceSecret(tx, id);
  const links = await tx
    .updateTable("share_links")
    .set({ revoked_at: sql`now()` })
    .where("user_id", "=", userId)
    .where("revoked_at", "is", null)
    .returning(sql<boolean>`expires_at > now()`.as("worked"))
    .execute();
  await tx.deleteFrom("archive_codes").where("user_id", "=", userId).execute();
  await sql`select pg_notify('changes', json_build_object('kind', 'rights', 'id', ${userId}::text, 'user', ${userId}::text)::text)`.execute(
    tx,
  );
  return { shareLinks: links.filter(({ worked }) => worked).length, environments: rented.length };
}

/**
 * Draws a new `jupyter_token` and answers it (G95, G109): whoever came in by the old one is out within 2 s. Links and the
 * owner's own tabs stay. `sessionId` is the sign-in that asks; a password changed meanwhile has ended it.
 */
export async function rotateSecret(db: Db, owned: Owned, sessionId: string | null): Promise<string> {
  return await db.transaction().execute(async (tx) => {
    const { subdomain, status, desired } = await lockOwned(tx, owned);
    if (status === "terminated" || desired === "terminated")
      throw new AppError("action_not_allowed", `${subdomain} has ended and has no password any more`);
    await requireOpenSession(tx, sessionId);
    return await replaceSecret(tx, owned.id);
  });
}

async function replaceSecret(tx: Tx, id: string): Promise<string> {
  const secret = newToken();
  await tx.updateTable("environments").set({ secret }).where("id", "=", id).execute();
  return secret;
}
