import { createHmac } from "node:crypto";
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { ConfigError } from "../config/config.ts";
import type { Db } from "../database/database.ts";
import { newId } from "../database/new-id.ts";
import type { Logger } from "../logging/create-logger.ts";
import { keptSecret, writeSecret } from "./kept-secret.ts";

/**
 * Creates the data folder with mode 0700: it contains secrets, homes and the embedded database, whose account may pass
 * through it if a server lets it. One that another account owns, such as a mounted volume, is unchanged, with a warning.
 */
export function openDataDir(dataDir: string, log: Logger): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const { uid, mode } = statSync(dataDir);
  if (uid === process.getuid?.()) chmodSync(dataDir, 0o700 | (mode & 0o001));
  else log.warn({ event: "setting.warning" }, `${dataDir} belongs to another account, which can read it.`);
}

/** The master secret for key derivation: set by the operator, or generated once and stored in the data folder. */
export function installationSecret(dataDir: string, given: string | undefined): Buffer {
  return Buffer.from(given ?? keptSecret(dataDir, "secret"));
}

/**
 * The key to the operator's pages (G110), in a file of the data folder. Servers that share a database have one key, from their
 * secret: the next request of a browser may be another server's.
 */
export function operatorKey(dataDir: string, secret: Buffer, { alone }: { readonly alone: boolean }): string {
  if (alone) return keptSecret(dataDir, "operator-key");
  const key = createHmac("sha256", secret).update("operator pages v1").digest("hex");
  writeSecret(dataDir, "operator-key", key);
  return key;
}

/** The installation's id, which drivers use, and its first start (G34). */
export async function installationOf(db: Db): Promise<{ id: string; startedAt: Date }> {
  await db
    .insertInto("installation")
    .values({ id: newId() })
    .onConflict((conflict) => conflict.column("one").doNothing())
    .execute();
  const row = await db.selectFrom("installation").selectAll().executeTakeFirstOrThrow();
  return { id: row.id, startedAt: row.started_at };
}

/**
 * Servers that share a database verify each other's signatures, so they need the same secret (G115); throws ConfigError
 * otherwise. With the embedded database there is only one server, and its secret may change between starts.
 */
export async function checkSecret(db: Db, secret: Buffer, { alone }: { readonly alone: boolean }): Promise<void> {
  const own = secretFingerprint(secret);
  const { fingerprint } = await db
    .updateTable("installation")
    .set(({ fn, val }) => ({ secret_fingerprint: alone ? own : fn.coalesce("secret_fingerprint", val(own)) }))
    .returning("secret_fingerprint as fingerprint")
    .executeTakeFirstOrThrow();
  if (fingerprint !== own) throw otherSecret();
}

/** Throws as `checkSecret` of servers with a database of their own does, and writes nothing. */
export async function compareSecret(db: Db, secret: Buffer): Promise<void> {
  const row = await db.selectFrom("installation").select("secret_fingerprint as fingerprint").executeTakeFirst();
  if (row?.fingerprint && row.fingerprint !== secretFingerprint(secret)) throw otherSecret();
}

function secretFingerprint(secret: Buffer): string {
  return createHmac("sha256", secret).update("installation fingerprint v1").digest("hex");
}

function otherSecret(): ConfigError {
  return new ConfigError(
    "The servers of this database have another secret: give this one their IDENTITY_SECRET (or the file secret of their DATA_DIR); to replace the secret on purpose, stop them all and run UPDATE installation SET secret_fingerprint = NULL.",
  );
}
