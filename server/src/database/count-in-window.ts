import { sql } from "kysely";
import type { Db } from "./database.ts";

interface Limit {
  /** How many fit in a window. */
  readonly limit: number;
  readonly windowMs: number;
}

interface Counted {
  /** How many of `amount` were counted; 0 in a full window. */
  readonly granted: number;
  /** How many the window has now, by all processes. */
  readonly count: number;
  readonly endsInMs: number;
}

/**
 * Counts up to `amount` in a fixed window, which begins with its first count, in one statement: concurrent counts of any
 * number of processes are exact (G91). A full window is not written.
 */
export async function countInWindow(db: Db, key: Buffer, { limit, windowMs }: Limit, amount: number): Promise<Counted> {
  const { rows } = await sql<{ granted: number; count: number; ms: number }>`
    insert into attempt_windows as held (key, count, ends_at)
    values (${key}, least(${amount}::int, ${limit}::int), now() + ${windowMs} * interval '1 millisecond')
    on conflict (key) do update set
      count = case when held.ends_at <= now() then excluded.count else least(held.count + ${amount}::int, ${limit}::int) end,
      ends_at = case when held.ends_at <= now() then excluded.ends_at else held.ends_at end
    where held.ends_at <= now() or held.count < ${limit}
    returning new.count - case when old.ends_at > now() then old.count else 0 end as granted, new.count as count,
      extract(epoch from new.ends_at - now())::float8 * 1000 as ms`.execute(db);
  const [row] = rows;
  if (row) return { granted: row.granted, count: row.count, endsInMs: Math.ceil(row.ms) };
  return { granted: 0, count: limit, endsInMs: Math.max(1, await windowEndsInMs(db, key, limit)) };
}

/** Milliseconds until a full window ends; 0 when it is not full. */
export async function windowEndsInMs(db: Db, key: Buffer, limit: number): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select extract(epoch from ends_at - now())::float8 * 1000 as ms from attempt_windows
    where key = ${key} and ends_at > now() and count >= ${limit}`.execute(db);
  return Math.ceil(rows[0]?.ms ?? 0);
}
