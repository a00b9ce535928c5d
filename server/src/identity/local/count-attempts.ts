import type { Db } from "../../database/database.ts";
import { countWindows, refuseUntil } from "../count-windows.ts";
import type { Sender } from "./fair-queue.ts";

export interface Attempts {
  /** Counts an attempt before the password is checked, so that parallel guesses count. Throws TOO_MANY_ATTEMPTS_TRY_LATER. */
  begin(account: string, from: Sender): Promise<{ succeeded(): Promise<void> }>;
  /** Resets the failures after the owner has authenticated by a reset link. */
  forget(account: string): Promise<void>;
}

interface AttemptLimits {
  readonly perMinute: number;
  readonly failuresInRow?: number | undefined;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Brute-force protection by two limits (G91, P12): attempts per minute for an account and network, and 100 consecutive
 * failures for an account from anywhere. After those, for a day, only networks that its owner signed in from may try, each
 * with 100 failures of its own, so that a distributed attack does not lock out the owner. A password reset lifts it.
 */
export function countAttempts(db: Db, { perMinute, failuresInRow = 100 }: AttemptLimits): Attempts {
  const recent = countWindows(db, { name: "sign-in", limit: perMinute, windowMs: minuteMs });
  const failures = countWindows(db, { name: "failed sign-in", limit: failuresInRow, windowMs: dayMs });

  return {
    async begin(account, { network, familiar }) {
      const pair = `${account} ${network}`;
      refuseUntil(await recent.take(pair));
      const waitMs = await failures.take(account);
      if (waitMs === 0) return { succeeded: () => failures.clear(account) };
      refuseUntil(familiar ? await failures.take(pair) : waitMs);
      return { succeeded: () => failures.clear(pair) };
    },
    forget: failures.clear,
  };
}
