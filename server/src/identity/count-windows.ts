import { hash } from "node:crypto";
import { sql } from "kysely";
import { countInWindow, windowEndsInMs } from "../database/count-in-window.ts";
import type { Db } from "../database/database.ts";
import { IdentityError } from "./identity.ts";

/** Throws TOO_MANY_ATTEMPTS_TRY_LATER if there is a wait. */
export function refuseUntil(waitMs: number): void {
  if (waitMs > 0) throw tooMany(waitMs);
}

export function tooMany(waitMs: number): IdentityError {
  return new IdentityError("TOO_MANY_ATTEMPTS_TRY_LATER", { retryAfterSeconds: Math.ceil(waitMs / 1000) });
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
  /** Takes one attempt back. */
  giveBack(key: string): Promise<void>;
  clear(key: string): Promise<void>;
}

/** A fixed-window rate limit, which begins with the first attempt. Counted in the database, so shared by all processes (G91). */
export function countWindows(db: Db, { name, limit, windowMs }: Window): Windows {
  const hashOf = (key: string) => hash("sha256", `${name}\0${key}`, "buffer");
  return {
    waitMs: (key) => windowEndsInMs(db, hashOf(key), limit),
    async take(key) {
      const { granted, endsInMs } = await countInWindow(db, hashOf(key), { limit, windowMs }, 1);
      return granted > 0 ? 0 : endsInMs;
    },
    async giveBack(key) {
      const held = db.updateTable("attempt_windows").set({ count: sql`count - 1` });
      await held.where("key", "=", hashOf(key)).where("count", ">", 0).execute();
    },
    async clear(key) {
      await db.deleteFrom("attempt_windows").where("key", "=", hashOf(key)).execute();
    },
  };
}
