import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { sql } from "kysely";
import type { Connection } from "../../database/connection.ts";
import type { Db, Sql } from "../../database/database.ts";
import { BackupRefused } from "./backup-refused.ts";
import { libpqAddress } from "./libpq-address.ts";
import type { Manifest } from "./manifest.ts";
import type { PostgresTools } from "./postgres-tools.ts";

interface DumpDeps {
  readonly db: Db;
  readonly connection: Connection;
  readonly tools: PostgresTools;
  /** Of the programs' files, closed to other accounts. */
  readonly folder: string;
  readonly signal?: AbortSignal | undefined;
}

/** Writes the database to a file in pg_dump's custom format, and returns what the file has: both see one snapshot. */
export async function dumpDatabase(
  { db, connection, tools, folder, signal }: DumpDeps,
  file: string,
): Promise<Pick<Manifest, "installation" | "migration" | "postgres" | "tables">> {
  const address = await libpqAddress(connection, folder);
  return await db
    .transaction()
    .setIsolationLevel("repeatable read")
    .setAccessMode("read only")
    .execute(async (tx) => {
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(tx);
      const { rows } = await sql<{ snapshot: string; id: string; migration: string; postgres: string }>`
        select pg_export_snapshot() as snapshot, (select id from installation) as id,
          (select max(name) from migrations) as migration, current_setting('server_version') as postgres`.execute(tx);
      const { snapshot = "", id: installation = "", migration = "", postgres = "" } = rows[0] ?? {};
      const tables = await countRows(tx);
      const whole = ["--format=custom", "--compress=none", "--no-owner", "--no-privileges"];
      await runTool(tools.dump, [...whole, `--snapshot=${snapshot}`, `--file=${file}`, `--dbname=${address}`], signal);
      return { installation, migration, postgres, tables };
    });
}

/** Rows of each table of the product. */
export async function countRows(db: Sql): Promise<Record<string, number>> {
  const { rows: names } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`.execute(db);
  if (names.length === 0) return {};
  const counts = names.map(({ name }) => sql`select ${name} as name, count(*) as count from ${sql.table(name)}`);
  const { rows } = await sql<{ name: string; count: number }>`${sql.join(counts, sql` union all `)}`.execute(db);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
}

/** Throws BackupRefused with the first lines of what the program says. */
export async function runTool(program: string, args: readonly string[], signal?: AbortSignal): Promise<void> {
  await promisify(execFile)(program, args, { maxBuffer: 2 ** 26, ...(signal && { signal }) }).catch(
    ({ stderr, message }) => {
      throw new BackupRefused(
        String(stderr || message)
          .trim()
          .split("\n")
          .slice(0, 3)
          .join(" / "),
      );
    },
  );
}
