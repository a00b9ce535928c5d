import { addressKey } from "../../http/limits.ts";
import { countWindows, refuseUntil } from "../count-windows.ts";

export interface Attempts {
  /**
   * Counts a sign-in before its password is looked at, so that guesses in parallel cannot slip through. Throws
   * TOO_MANY_ATTEMPTS_TRY_LATER. `addresses` answers where the account's owner signed in from before.
   */
  begin(account: string, from: string, addresses: () => Promise<readonly string[]>): Promise<{ succeeded(): void }>;
  /** The owner has proved another way to be the owner. */
  forget(account: string): void;
}

interface AttemptLimits {
  readonly perMinute: number;
  readonly failuresInRow?: number | undefined;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/**
 * Two limits (G91, reliability.md P12). So many attempts a minute for one account from one network. And 100 failures in a
 * row for one account from anywhere; then, for a day, only networks its owner has signed in from may try, each with 100 of
 * its own, so that guessing from everywhere locks out the guessers and not the owner. A password reset lifts it.
 * Held in this process: with several, each grants its own share.
 */
export function countAttempts({ perMinute, failuresInRow = 100 }: AttemptLimits): Attempts {
  const recent = countWindows(perMinute, minuteMs);
  const failures = countWindows(failuresInRow, dayMs);

  return {
    async begin(account, from, addresses) {
      const network = addressKey(from);
      const pair = `${account} ${network}`;
      refuseUntil(recent.take(pair));
      const waitMs = failures.take(account);
      if (waitMs === 0) return { succeeded: () => failures.clear(account) };
      const familiar = (await addresses()).some((address) => addressKey(address) === network);
      refuseUntil(familiar ? failures.take(pair) : waitMs);
      return { succeeded: () => failures.clear(pair) };
    },
    forget: failures.clear,
  };
}
