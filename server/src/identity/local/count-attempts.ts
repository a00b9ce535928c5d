import type { Db } from "../../database/database.ts";
import { countWindows, refuseUntil } from "../count-windows.ts";
import type { Sender } from "./fair-queue.ts";

export interface Attempts {
  /**
   * Counts a sign-in before its password is looked at, so that guesses in parallel cannot slip through. Throws
   * TOO_MANY_ATTEMPTS_TRY_LATER. `familiar`: the account's owner signed in from this network before.
   */
  begin(account: string, from: Sender): Promise<{ succeeded(): Promise<void> }>;
  /** The owner has proved another way to be the owner. */
  forget(account: string): Promise<void>;
}

interface AttemptLimits {
  readonly perMinute: number;
  readonly failuresInRow?: number | undefined;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Two limits (G91, P12). So many attempts a minute for one account from one network. And 100 failures in a
 * row for one account from anywhere; then, for a day, only networks its owner has signed in from may try, each with 100 of
 * its own, so that guessing from everywhere locks out the guessers and not the owner. A password reset lifts it.
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
