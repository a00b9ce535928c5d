import { readdir, readFile } from "node:fs/promises";
import { Kysely, PostgresDialect, type Selectable, sql, type Transaction } from "kysely";
import { Pool, types } from "pg";
import type { Logger } from "../logging/create-logger.ts";
import { type Connection, clientOf, listeningConnection, noteLost, throwLost } from "./connection.ts";
import { keepListening } from "./keep-listening.ts";
import { prepared } from "./prepared.ts";
import type { Tables } from "./tables.ts";

export type Db = Kysely<Tables>;
export type Tx = Transaction<Tables>;
/** A row of a table, as it is read. */
export type RowOf<Name extends keyof Tables> = Selectable<Tables[Name]>;
/** A query may stand alone or belong to the caller's transaction. */
export type Sql = Db | Tx;

export interface Database {
  readonly db: Db;
  /** Listens to `pg_notify` on its own connection; `reset` runs after each (re)connect: some may be lost. */
  listen(channel: string, listener: (payload: string) => void, reset?: () => void): Promise<void>;
  /** Connections of the pool, and the queries that wait for one. */
  pool(): { readonly total: number; readonly idle: number; readonly waiting: number };
  close(): Promise<void>;
}

// Minor units and counts stay far below 2^53.
types.setTypeParser(types.builtins.INT8, Number);
types.setTypeParser(types.builtins.NUMERIC, Number);

/** Timeout for a connection, or for a free slot of the pool. */
const connectionTimeoutMillis = 10_000;

/** The schema version does not match. The message is for the operator. */
export class SchemaError extends Error {}

/** Connects and migrates. With `keep`, for programs beside the server, an outdated schema is an error instead. */
export async function openDatabase(connection: Connection, log: Logger, { keep = false } = {}): Promise<Database> {
  const pool = new Pool({ ...connection, Client: clientOf(connection), max: 20, connectionTimeoutMillis });
  let closing = false;
  // The pool's end does not await its connections, so stopping the database next can still cut them off.
  pool.on("error", (err) => closing || log.warn({ event: "database.connection_lost", err }));
  // Errors of connections in use are not pool errors: the query reports them, but without a listener Node would exit.
  pool.on("connect", (client) => client.on("error", noteLost));
  const connect = () => pool.connect().catch(throwLost);
  const source = { connect, end: () => pool.end(), options: pool.options };
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: prepared(source) }) });
  try {
    await expectServer(db);
    await (keep ? expectMigrated(db) : migrate(db));
  } catch (error) {
    closing = true;
    await db.destroy();
    throw error;
  }
  const stops: (() => Promise<void>)[] = [];
  return {
    db,
    listen: async (channel, listener, reset) =>
      void stops.push(
        await keepListening({ connection: listeningConnection(connection), channel, listener, reset, log }).catch(
          throwLost,
        ),
      ),
    pool: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async close() {
      closing = true;
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

const folder = new URL("migrations/", import.meta.url);

/** The migrations of this version, in order. */
export async function migrationNames(): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
}

/** The schema needs features of PostgreSQL 18. */
async function expectServer(db: Db): Promise<void> {
  const { rows } = await sql<{ server_version_num: string }>`show server_version_num`.execute(db);
  const version = Number(rows[0]?.server_version_num);
  if (version >= 180_000) return;
  throw new SchemaError(
    `The database is PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000}, and version 18 or newer is needed.`,
  );
}

async function expectMigrated(db: Db): Promise<void> {
  const { rows } = await sql<{ applied: string | null }>`select to_regclass('migrations')::text as applied`.execute(db);
  const missing = await missingMigrations(db, rows[0]?.applied !== null);
  if (missing.length === 0) return;
  throw new SchemaError(
    "The database schema is older than this version: start the server of this version once, which migrates it, then retry.",
  );
}

/** Migrations that are not applied yet. Throws SchemaError if the database has been migrated by a newer version. */
async function missingMigrations(db: Sql, isBegun: boolean): Promise<string[]> {
  const names = await migrationNames();
  const { rows } = isBegun
    ? await sql<{ name: string }>`select name from migrations order by name`.execute(db)
    : { rows: [] };
  const unknown = rows.find(({ name }) => !names.includes(name));
  if (unknown)
    throw new SchemaError(
      `The database was migrated by a newer version (${unknown.name}): use that version or a later one, or restore an older backup.`,
    );
  const applied = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !applied.has(name));
}

async function migrate(db: Db): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(8301547)`.execute(tx);
    await sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`.execute(
      tx,
    );
    for (const name of await missingMigrations(tx, true)) {
      await sql.raw(await readFile(new URL(name, folder), "utf8")).execute(tx);
      await sql`insert into migrations (name) values (${name})`.execute(tx);
    }
  });
}
