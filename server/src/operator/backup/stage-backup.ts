import { rm } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import type { Connection } from "../../database/connection.ts";
import { type Db, migrationNames, openDatabase } from "../../database/database.ts";
import { startEmbedded } from "../../database/embedded/embedded.ts";
import { unpackArchive } from "../../drivers/homes/unpack-archive.ts";
import { commandLogger } from "../../logging/create-logger.ts";
import { type Broken, brokenInvariants } from "../../payments/ledger/invariants.ts";
import { BackupRefused } from "./backup-refused.ts";
import { checkSignature, type Trust } from "./backup-signature.ts";
import { countRows, runTool } from "./dump-database.ts";
import { libpqAddress } from "./libpq-address.ts";
import { checkVersion, dumpName, elsewhereName, homesName, type Manifest, parseManifest } from "./manifest.ts";
import { postgresTools } from "./postgres-tools.ts";
import { checkedArchive, readArchive } from "./read-archive.ts";
import { withPlainDatabase } from "./with-plain-database.ts";

export interface Staged {
  readonly manifest: Manifest;
  /** Violations of the invariants of money in the restored database. */
  readonly broken: readonly Broken[];
}

/** The tar of a backup, from its beginning. */
export type OpenArchive = () => Promise<AsyncIterable<Uint8Array>>;

interface StageOptions {
  readonly trust: Trust;
  readonly withHomes: boolean;
  /** Off for a copy that is deleted again. */
  readonly fsync: boolean;
  /** Where pg_restore is kept when PATH has none that fits. */
  readonly runtimes: string;
  readonly progress: (line: string) => void;
}

/**
 * Unpacks a backup below `folder`, an empty one, and restores its database there, in `database`, migrated to this version.
 * Every file, the version, the rows of every table and the invariants of money are checked. Throws BackupRefused; the
 * caller deletes the folder then.
 */
export async function stageBackup(
  open: OpenArchive,
  folder: string,
  { trust, withHomes, fsync, runtimes, progress }: StageOptions,
): Promise<Staged> {
  progress("The backup is read and compared with its sums.");
  const read = await readArchive(await open());
  checkSignature(read.text, trust);
  const manifest = parseManifest(read.text);
  checkVersion(manifest, await migrationNames());
  progress("It is whole, and unpacked.");
  // It may be another file by now: what was unpacked is what was checked.
  const again = checkedArchive(await open());
  await unpackArchive(again.bytes(), folder, { wanted: (path) => withHomes || !isOfHomes(path) });
  if (again.text() !== read.text) throw new BackupRefused("The backup changed while it was read: try again.");
  const { restore } = await postgresTools(Math.max(18, Number.parseInt(manifest.postgres, 10)), runtimes);
  progress("The database is restored.");
  const embedded = await startEmbedded({ directory: join(folder, "database"), fsync, log: commandLogger });
  try {
    await restoreDump({ restore, folder, connection: embedded.connection });
    await compareRows(embedded.connection, manifest);
    const database = await openDatabase(embedded.connection, commandLogger);
    try {
      await forgetRunning(database.db);
      return { manifest, broken: await brokenInvariants(database.db) };
    } finally {
      await database.close();
    }
  } finally {
    await embedded.stop();
  }
}

interface RestoreTarget {
  readonly restore: string;
  /** Of the unpacked backup. */
  readonly folder: string;
  /** An empty database. */
  readonly connection: Connection;
}

/** All or nothing. */
export async function restoreDump({ restore, folder, connection }: RestoreTarget): Promise<void> {
  const address = await libpqAddress(connection, folder);
  const whole = ["--exit-on-error", "--single-transaction", "--no-owner", "--no-privileges"];
  try {
    await runTool(restore, [...whole, `--dbname=${address}`, join(folder, dumpName)]);
  } finally {
    await rm(join(folder, "pgpass"), { force: true });
  }
}

function isOfHomes(path: string): boolean {
  return path.split("/")[0] === homesName || path.startsWith(`${elsewhereName}/`);
}

/** The backup itself was running at its moment. A database of an older version has no such table. */
export async function forgetRunning(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string | null }>`select to_regclass('backups')::text as name`.execute(db);
  if (rows[0]?.name) await db.deleteFrom("backups").where("ended_at", "is", null).execute();
}

async function compareRows(connection: Connection, { tables }: Manifest): Promise<void> {
  const restored = await withPlainDatabase(connection, countRows);
  const names = [...new Set([...Object.keys(tables), ...Object.keys(restored)])].sort();
  const different = names.filter((name) => tables[name] !== restored[name]);
  if (different.length === 0) return;
  const [first = ""] = different;
  throw new BackupRefused(
    `The restored database differs from the manifest in ${different.length} tables (${first}: ${restored[first] ?? "no table"} of ${tables[first] ?? "no"} rows): use another backup.`,
  );
}
