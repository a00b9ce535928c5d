import { sql } from "kysely";
import { BackupRefused } from "./backup-refused.ts";
import type { Trust } from "./backup-signature.ts";
import { countRows } from "./dump-database.ts";
import { postgresTools } from "./postgres-tools.ts";
import { forgetRunning, restoreDump } from "./stage-backup.ts";
import { withPlainDatabase } from "./with-plain-database.ts";

/** Restores the dump of an unpacked backup, which was checked, all or nothing. */
type RestoreExternal = (folder: string, runtimes: string) => Promise<void>;

/** Throws BackupRefused unless the database of DATABASE_URL is reachable and empty. */
export async function openExternal(url: string, trust: Trust): Promise<RestoreExternal> {
  const connection = { connectionString: url };
  const { tables, major, superuser } = await withPlainDatabase(connection, async (db) => {
    const { rows } = await sql<{ version: number; superuser: boolean }>`
      select current_setting('server_version_num')::int as version, rolsuper as superuser
      from pg_roles where rolname = session_user`.execute(db);
    const { version = 0, superuser = true } = rows[0] ?? {};
    return { tables: Object.keys(await countRows(db)), major: Math.floor(version / 10_000), superuser };
  }).catch((error: Error) => {
    throw new BackupRefused(`The database of DATABASE_URL cannot be reached: ${error.message}`);
  });
  if (major < 18) throw new BackupRefused(`DATABASE_URL is PostgreSQL ${major}, and version 18 or newer is needed.`);
  if (tables.length > 0)
    throw new BackupRefused(
      `The database of DATABASE_URL is not empty (${tables.slice(0, 3).join(", ")}): restore into a new one, made with createdb.`,
    );
  // What a dump brings along may do whatever its role may.
  if (trust === "foreign" && superuser)
    throw new BackupRefused(
      "The role of DATABASE_URL is a superuser, and a foreign backup could start programs through it: name a role that only owns the database, as createuser and createdb --owner make them.",
    );
  return async (folder, runtimes) => {
    const { restore } = await postgresTools(major, runtimes);
    await restoreDump({ restore, folder, connection });
    await withPlainDatabase(connection, forgetRunning);
  };
}
