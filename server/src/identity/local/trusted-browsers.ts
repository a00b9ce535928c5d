import { hash, randomBytes } from "node:crypto";
import { sql } from "kysely";
import type { Sql, Tx } from "../../database/database.ts";

/** A token with which a browser is not asked for a code for 30 days (G401): 256 random bits, of which only the hash is stored. */
export async function trustBrowser(tx: Tx, userId: string): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  await tx
    .insertInto("identity_trusted_browsers")
    .values({ hash: hashOf(token), user_id: userId, expires_at: sql`now() + interval '30 days'` })
    .execute();
  return token;
}

/** Of this account alone: another one's token trusts nobody. */
export async function isTrustedBrowser(db: Sql, userId: string, token: string): Promise<boolean> {
  const row = await db
    .selectFrom("identity_trusted_browsers")
    .select("user_id")
    .where("hash", "=", hashOf(token))
    .where("user_id", "=", userId)
    .where("expires_at", ">", sql<Date>`now()`)
    .executeTakeFirst();
  return row !== undefined;
}

export async function dropTrustedBrowsers(tx: Tx, userId: string): Promise<void> {
  await tx.deleteFrom("identity_trusted_browsers").where("user_id", "=", userId).execute();
}

const hashOf = (token: string) => hash("sha256", token, "buffer");
