import { hash } from "node:crypto";
import { sql } from "kysely";
import type { Db } from "../database/database.ts";
import { IdentityError } from "./identity.ts";

/** Throws TOO_MANY_ATTEMPTS_TRY_LATER if there is a wait. */
export function refuseUntil(waitMs: number): void {
  if (waitMs > 0)
    throw new IdentityError("TOO_MANY_ATTEMPTS_TRY_LATER", { retryAfterSeconds: Math.ceil(waitMs / 1000) });
}

interface Window {
  /** Unique name of the counter. */
  readonly name: string;
  readonly limit: number;
  readonly windowMs: number;
}

export interface Windows {
  /** Counts an attempt and returns 0, or the milliseconds to wait when the limit is reached. */
  take(key: string): Promise<number>;
  /** The same wait without counting. */
  waitMs(key: string): Promise<number>;
  clear(key: string): Promise<void>;
}

/** A fixed-window rate limit, which begins with the first attempt. Counted in the database, so shared by all processes (G91). */
export function countWindows(db: Db, { name, limit, windowMs }: Window): Windows {
  const hashOf = (key: string) => hash("sha256", `${name}\0${key}`, "buffer");

  async function waitMs(key: string): Promise<number> {
    const { rows } = await sql<{ ms: number }>`
      select extract(epoch from ends_at - now())::float8 * 1000 as ms from attempt_windows
      where key = ${hashOf(key)} and ends_at > now() and count >= ${limit}`.execute(db);
    return Math.ceil(rows[0]?.ms ?? 0);
  }

  return {
    waitMs,
    async take(key) {
      // One statement, so that concurrent attempts are counted exactly. A full window is not updated.
      const { rows } = await sql`
        insert into attempt_windows as held (key, count, ends_at)
        values (${hashOf(key)}, 1, now() + ${windowMs} * interval '1 millisecond')
        on conflict (key) do update set
          count = case when held.ends_at <= now() then 1 else held.count + 1 end,
          ends_at = case when held.ends_at <= now() then excluded.ends_at else held.ends_at end
        where held.ends_at <= now() or held.count < ${limit} returning key`.execute(db);
      return rows.length > 0 ? 0 : Math.max(1, await waitMs(key));
    },
    async clear(key) {
      await db.deleteFrom("attempt_windows").where("key", "=", hashOf(key)).execute();
    },
  };
}
