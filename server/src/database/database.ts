import { readdir, readFile } from "node:fs/promises";
import { Kysely, PostgresDialect, sql, type Transaction } from "kysely";
import { Client, Pool, types } from "pg";
import type { Tables } from "./tables.ts";

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;
/** A query may stand alone or belong to the caller's transaction. */
export type Sql = Db | Tx;

export interface Database {
  readonly db: Db;
  /** Hears `pg_notify` on its own connection, reopened when it drops; `reset` runs after each (re)connect, because lost notifications are not repeated. */
  listen(channel: string, heard: (payload: string) => void, reset?: () => void): Promise<void>;
  close(): Promise<void>;
}

export interface Connection {
  readonly connectionString?: string;
  readonly host?: string;
  readonly user?: string;
  readonly password?: string;
  readonly database?: string;
}

// Minor units and counts stay far below 2^53.
types.setTypeParser(types.builtins.INT8, Number);
types.setTypeParser(types.builtins.NUMERIC, Number);

export async function openDatabase(connection: Connection, failed: (error: unknown) => void): Promise<Database> {
  const pool = new Pool({ ...connection, max: 20 });
  pool.on("error", failed);
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  await migrate(db);
  const stops: (() => Promise<void>)[] = [];
  return {
    db,
    listen: async (channel, heard, reset) =>
      void stops.push(await keepListening(connection, channel, heard, reset, failed)),
    async close() {
      await Promise.all(stops.map((stop) => stop()));
      await db.destroy();
    },
  };
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    error.code === "23505" &&
    "constraint" in error &&
    error.constraint === constraint
  );
}

async function migrate(db: Db): Promise<void> {
  const folder = new URL("migrations/", import.meta.url);
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(8301547)`.execute(tx);
    await sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`.execute(
      tx,
    );
    const { rows } = await sql<{ name: string }>`select name from migrations`.execute(tx);
    const applied = new Set(rows.map((row) => row.name));
    for (const name of names.filter((each) => !applied.has(each))) {
      await sql.raw(await readFile(new URL(name, folder), "utf8")).execute(tx);
      await sql`insert into migrations (name) values (${name})`.execute(tx);
    }
  });
}

async function keepListening(
  connection: Connection,
  channel: string,
  heard: (payload: string) => void,
  reset: (() => void) | undefined,
  failed: (error: unknown) => void,
): Promise<() => Promise<void>> {
  let current: Client | undefined;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  async function connect(): Promise<void> {
    const client = new Client({ ...connection, keepAlive: true });
    client.on("notification", ({ payload }) => heard(payload ?? ""));
    client.on("error", failed);
    client.on("end", () => {
      if (!stopped) timer = setTimeout(() => void connect().catch(retry), 500);
    });
    await client.connect();
    current = client;
    await client.query(`listen ${client.escapeIdentifier(channel)}`);
    reset?.();
  }

  function retry(error: unknown): void {
    failed(error);
    if (!stopped) timer = setTimeout(() => void connect().catch(retry), 1000);
  }

  await connect();
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await current?.end().catch(failed);
  };
}
