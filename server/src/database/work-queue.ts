import { type RawBuilder, sql } from "kysely";
import type { Loop } from "../async/start-interval.ts";
import { type Logger, logError } from "../logging/create-logger.ts";
import type { ChangeKind, Changes } from "./changes.ts";
import type { RowOf, Sql } from "./database.ts";
import { startNotifiedLoop } from "./notified-loop.ts";
import type { Tables } from "./tables.ts";

/**
 * A table whose rows are jobs (docs/internals/work-queue.md). `due_at`: when to process the row next; null: never again.
 * A worker holds a row under a lease, identified by `lease_token`; after `lease_expires_at` other workers may take it.
 */
export interface WorkQueue<Row> {
  readonly table: string;
  /** The columns of the primary key. */
  readonly key: readonly (keyof Row & string)[];
  /** Lease duration: the delay before another worker takes over the rows of a killed one. */
  readonly leaseSeconds: number;
}

/** The queue of a table of the product. */
export function workQueue<Name extends keyof Tables>(
  table: Name,
  key: WorkQueue<RowOf<Name>>["key"],
  leaseSeconds: number,
): WorkQueue<RowOf<Name>> {
  return { table, key, leaseSeconds };
}

/** A row that only this worker may write results to, until the lease expires or is revoked. */
export type Leased<Row> = Row & { readonly lease_token: string };

/** New values by column; expressions see the row's old values. */
export type Values<Row> = { readonly [K in keyof Row]?: Row[K] | RawBuilder<Row[K]> };

interface Take<Row, More> {
  /** Filter; repeats the condition of a partial index verbatim. */
  readonly where: RawBuilder<unknown>;
  readonly limit: number;
  /** The rows of highest value first; by default those that are due for longest. */
  readonly order?: RawBuilder<unknown>;
  /** Includes rows that are not due yet and not leased. */
  readonly early?: boolean;
  /** Evaluated once for each locked row; returned with the row, and available to `set` as `due.NAME`. */
  readonly compute?: { readonly [K in keyof More]: RawBuilder<More[K]> };
  readonly set?: Values<Row>;
  /** Asynchronous commit. A lease that is lost in a crash costs one more pass. */
  readonly isAsync?: boolean;
}

/** When a row may be taken. The indexes of due rows use this exact expression. */
export const readyAt = sql<Date>`greatest(due_at, lease_expires_at)`;

/** Leases due rows, by default oldest first, with SKIP LOCKED: rows locked by other workers are skipped. */
export async function fetchDue<Row, More = unknown>(
  db: Sql,
  queue: WorkQueue<Row>,
  { where, limit, order, early = false, compute, set, isAsync = false }: Take<Row, More>,
): Promise<readonly Leased<Row & More>[]> {
  const table = sql.table(queue.table);
  const computed = Object.entries<RawBuilder<unknown>>(compute ?? {});
  const selected = [
    ...queue.key.map((column) => sql`${sql.ref(column)} as ${sql.ref(`key_${column}`)}`),
    ...computed.map(([name, value]) => sql`${value} as ${sql.ref(name)}`),
  ];
  const isSame = queue.key.map((column) => sql`${table}.${sql.ref(column)} = ${sql.ref(`due.key_${column}`)}`);
  const returned = [sql`${table}.*`, ...computed.map(([name]) => sql.ref(`due.${name}`))];
  const { rows } = await sql<Leased<Row & More>>`
    with setting as (select ${isAsync ? sql`set_config('synchronous_commit', 'off', true)` : sql`null`}),
    due as (
      select ${sql.join(selected)} from ${table}
      where ${early ? sql`(lease_expires_at is null or lease_expires_at <= now())` : sql`${readyAt} <= now()`} and ${where}
      order by ${order ? sql`${order} desc` : readyAt} limit ${limit} for update skip locked)
    update ${table} set ${assign({ ...newLease(queue), ...set })}
    from due, setting where ${sql.join(isSame, sql` and `)} returning ${sql.join(returned)}`.execute(db);
  return rows;
}

/** Milliseconds until the next row is due: 0 if one is due now, infinite if there is none. */
export async function nextDueMs(db: Sql, { table }: { readonly table: string }, where: RawBuilder<unknown>) {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(${readyAt}) - now()) * 1000)::float8 as ms
    from ${sql.table(table)} where ${where}`.execute(db);
  return Math.max(0, Math.ceil(rows[0]?.ms ?? Number.POSITIVE_INFINITY));
}

/** Runs work and renews its lease meanwhile. Work that loses its lease continues, but `finish` writes nothing. */
export async function keepLease<Row, T>(
  db: Sql,
  queue: WorkQueue<Row>,
  row: Leased<Row>,
  log: Logger,
  work: () => Promise<T>,
): Promise<T> {
  const failed = logError(log, "lease.not_renewed");
  const renewal = setInterval(() => void renew(db, queue, row).catch(failed), (queue.leaseSeconds * 1000) / 3);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
  }
}

/** Returns whether the lease is still held. */
export async function renew<Row>(db: Sql, queue: WorkQueue<Row>, row: Leased<Row>): Promise<boolean> {
  const { rows } = await sql`
    update ${sql.table(queue.table)} set lease_expires_at = ${inMs(queue.leaseSeconds * 1000)}
    where ${isHeld(queue, row)} returning true`.execute(db);
  return rows.length > 0;
}

/**
 * Writes a result and releases the lease. Writes nothing and returns undefined if the lease is lost or `and` is false.
 */
export async function finish<Row>(
  db: Sql,
  queue: WorkQueue<Row>,
  row: Leased<Row>,
  values: Values<Row>,
  and: RawBuilder<unknown> = sql`true`,
): Promise<Row | undefined> {
  const { rows } = await sql<Row>`
    update ${sql.table(queue.table)} set ${assign({ ...noLease, ...values })}
    where ${isHeld(queue, row)} and ${and} returning *`.execute(db);
  return rows[0];
}

/** Deletes a finished row, unless the lease is lost. */
export async function finishAndDelete<Row>(db: Sql, queue: WorkQueue<Row>, row: Leased<Row>): Promise<void> {
  await sql`delete from ${sql.table(queue.table)} where ${isHeld(queue, row)}`.execute(db);
}

/** Values for `finish` after a failed attempt. */
export function retryIn(ms: number, error: unknown) {
  return { due_at: inMs(ms), last_error: String(error).slice(0, 500) };
}

/** Columns for inserting a row under a lease. */
export function newLease({ leaseSeconds }: { readonly leaseSeconds: number }) {
  return { lease_token: sql<string>`gen_random_uuid()`, lease_expires_at: inMs(leaseSeconds * 1000) };
}

/** Values that revoke the lease of a row: its worker can no longer write. */
export const noLease = { lease_token: null, lease_expires_at: null } as const;
export const withoutLease = sql`lease_token = null, lease_expires_at = null`;

/** By the database's clock. */
export function inMs(ms: number): RawBuilder<Date> {
  return sql`now() + make_interval(secs => ${ms / 1000})`;
}

export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

/** Exponential back-off after consecutive failures: `firstMs`, doubled up to `longestMs`. */
export function backoffMs(
  failures: number,
  { firstMs, longestMs }: Backoff = { firstMs: 1000, longestMs: 60_000 },
): number {
  return Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
}

function isHeld<Row>({ table, key }: WorkQueue<Row>, row: Leased<Row>) {
  const columns = [...key, "lease_token"] as readonly (keyof Leased<Row> & string)[];
  return sql.join(
    columns.map((column) => sql`${sql.ref(`${table}.${column}`)} = ${row[column]}`),
    sql` and `,
  );
}

function assign(values: object) {
  return sql.join(Object.entries(values).map(([column, value]) => sql`${sql.ref(column)} = ${value}`));
}

interface Worker<Row> {
  /** The field `loop` in the log of failures. */
  readonly name: string;
  readonly changes: Changes;
  /** Kinds of change after which a row may be due. */
  readonly on: readonly ChangeKind[];
  readonly fetch: () => Promise<readonly Row[]>;
  /** Never throws: finishes the row in any case. */
  readonly work: (row: Row) => Promise<void>;
  readonly nextDueMs: () => Promise<number>;
  readonly intervalMs: number;
  readonly log: Logger;
}

/** Processes due rows, those of one fetch concurrently, then waits for the next. */
export function startWorker<Row>({ fetch, work, nextDueMs: next, ...loop }: Worker<Row>): Loop {
  return startNotifiedLoop({
    ...loop,
    work: async () => {
      const rows = await fetch();
      await Promise.all(rows.map(work));
      return rows.length > 0 ? 0 : await next();
    },
  });
}
