import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

export type DatabaseClock = ReturnType<typeof createDatabaseClock>;

/** Extrapolates the database's time by the monotonic clock: expiry follows the database, and the wall clock may jump. */
export function createDatabaseClock() {
  let atMs = Date.now();
  let since = performance.now();
  return {
    async set(db: Db): Promise<void> {
      const before = performance.now();
      const { rows } = await sql<{
        ms: number;
      }>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`.execute(db);
      since = (before + performance.now()) / 2;
      atMs = rows[0]?.ms ?? Date.now();
    },
    nowMs: (): number => atMs + performance.now() - since,
  };
}
