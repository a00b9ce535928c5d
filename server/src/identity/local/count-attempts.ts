import type { Db } from "../../database/database.ts";
import { countWindows, refuseUntil, tooMany } from "../count-windows.ts";
import type { IdentityError } from "../identity.ts";
import type { Sender } from "./fair-queue.ts";

interface Attempt {
  /** False: even the right password is refused, and none is compared. */
  readonly mayPass: boolean;
  /** What is said of a wrong password, and of each one where none may pass. Null: that it is wrong. */
  readonly refusal: IdentityError | null;
  succeeded(): Promise<void>;
}

export interface Attempts {
  /**
   * Counts an attempt before the password is checked, so that parallel guesses count. Throws TOO_MANY_ATTEMPTS_TRY_LATER
   * above the limit per minute.
   */
  begin(account: string, from: Sender): Promise<Attempt>;
  /** Resets the failures after the owner has authenticated by a reset link. */
  forget(account: string): Promise<void>;
}

interface AttemptLimits {
  readonly perMinute: number;
  readonly failuresPerDay?: number | undefined;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Brute-force protection by two limits (G91, P12): attempts per minute for an account and network, and 100 failures a day
 * for an account from anywhere. After those only networks that its owner signed in from may pass, each with 100 failures in
 * a row of its own, so that a distributed attack does not lock out the owner. A password reset lifts it. Whoever has no
 * password gets the same refusal on every network, for an account that does not exist too (G369).
 */
export function countAttempts(db: Db, { perMinute, failuresPerDay = 100 }: AttemptLimits): Attempts {
  const recent = countWindows(db, { name: "sign-in", limit: perMinute, windowMs: minuteMs });
  const failures = countWindows(db, { name: "failed sign-in", limit: failuresPerDay, windowMs: dayMs });

  return {
    async begin(account, { network, familiar }) {
      const pair = `${account} ${network}`;
      refuseUntil(await recent.take(pair));
      const waitMs = await failures.take(account);
      // Its own alone: strangers would see by the others that somebody signs in here.
      if (waitMs === 0) return { mayPass: true, refusal: null, succeeded: () => failures.giveBack(account) };
      // Counted for strangers too: it takes time.
      const isWithin = (await failures.take(pair)) === 0;
      return { mayPass: familiar && isWithin, refusal: tooMany(waitMs), succeeded: () => failures.clear(pair) };
    },
    forget: failures.clear,
  };
}
