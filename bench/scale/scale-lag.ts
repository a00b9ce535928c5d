import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Db } from "../../server/src/database/database.ts";
import type { Bench } from "./scale-processes.ts";

/** How long lags are measured. */
const windowMs = 60_000;
/** The most runs that end by themselves within that time; of few environments a fifth. */
const mostEnds = 200;
/** The most environments whose time is over then; of few a tenth. */
const mostExpiries = 100;

/** Milliseconds from each change outside until its row says so. */
export interface Lags {
  readonly ended: readonly number[];
  readonly expired: readonly number[];
  /** The longest time that a row was due and nobody took it, read each second. */
  readonly overdueMs: number;
}

/** Ends runs and lets environments expire for a minute. */
export async function measureLags(bench: Bench): Promise<Lags> {
  const { db } = bench.database;
  const overdue = followOverdue(db);
  const expiring = await spreadExpiry(db, Math.min(mostExpiries, bench.count / 10));
  const ended = await endRuns(bench, Math.min(mostEnds, bench.count / 5));
  const overdueMs = overdue.end();
  const { rows } = await sql<{ ms: number }>`
    select extract(epoch from coalesce(terminated_at, clock_timestamp()) - expires_at)::float8 * 1000 as ms
    from environments where id = any(${expiring})`.execute(db);
  return { ended, overdueMs, expired: rows.map(({ ms }) => ms) };
}

/** The lag of each is the time until the first notification of its row; of one that nobody noticed, the time until now. */
async function endRuns({ database: { db }, engine, heard }: Bench, count: number): Promise<readonly number[]> {
  const { rows } = await sql<{ id: string }>`
    select id from environments where status = 'active' and expires_at > now() + interval '10 minutes'
    order by random() limit ${count}`.execute(db);
  const endedAt = new Map<string, number>();
  const lags = new Map<string, number>();
  heard.listener = (id) => {
    const at = endedAt.get(id);
    if (at !== undefined && !lags.has(id)) lags.set(id, performance.now() - at);
  };
  for (const { id } of rows) {
    endedAt.set(id, performance.now());
    engine.stdin?.write(`${id}\n`);
    await sleep(windowMs / count);
  }
  await sleep(5000);
  heard.listener = () => {};
  return [...endedAt].map(([id, at]) => lags.get(id) ?? performance.now() - at);
}

function followOverdue(db: Db) {
  let worstMs = 0;
  const read = async () => {
    const { rows } = await sql<{ ms: number | null }>`
      select (extract(epoch from now() - min(greatest(due_at, lease_expires_at))) * 1000)::float8 as ms
      from environments where status <> 'terminated'`.execute(db);
    worstMs = Math.max(worstMs, rows[0]?.ms ?? 0);
  };
  const timer = setInterval(() => void read().catch(console.error), 1000);
  return {
    end() {
      clearInterval(timer);
      return worstMs;
    },
  };
}

/** Returns their ids. */
async function spreadExpiry(db: Db, count: number): Promise<readonly string[]> {
  const { rows } = await sql<{ id: string }>`
    with ending as (select id, row_number() over () * make_interval(secs => ${windowMs / 1000 / count}) as left_time from
      (select id from environments where status = 'active' order by random() limit ${count} for update) locked)
    update environments e set expires_at = now() + left_time, due_at = least(due_at, now() + left_time)
    from ending where ending.id = e.id returning e.id`.execute(db);
  return rows.map(({ id }) => id);
}
