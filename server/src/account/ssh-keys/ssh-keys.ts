import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** The account that a key of this fingerprint ("SHA256:...") is of; undefined for an unknown one, and while the account is suspended. */
export async function findSshKey(
  db: Db,
  fingerprint: string,
): Promise<{ readonly userId: string; readonly keyId: string; readonly publicKey: string } | undefined> {
  return await db
    .selectFrom("ssh_keys as k")
    .select(["k.user_id as userId", "k.id as keyId", "k.public_key as publicKey"])
    .where("k.fingerprint", "=", fingerprint)
    .where(sql<boolean>`not exists (select from account_suspensions where user_id = k.user_id and lifted_at is null)`)
    .executeTakeFirst();
}

/** Lines of an authorized_keys file: type and base64, nothing else. */
export async function authorizedKeysOf(db: Db, userId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("ssh_keys")
    .select("public_key")
    .where("user_id", "=", userId)
    .orderBy("id")
    .execute();
  return rows.map(({ public_key }) => public_key);
}

/** Writes at most once a minute. */
export async function markKeyUsed(db: Db, keyId: string): Promise<void> {
  await sql`
    update ssh_keys set last_used_at = now()
    where id = ${keyId} and (last_used_at is null or last_used_at < now() - interval '1 minute')`.execute(db);
}
