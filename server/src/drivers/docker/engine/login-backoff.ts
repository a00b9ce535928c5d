import type { DriverError } from "../../driver.ts";

/** Back-off after refused logins, because too many of them lock an account out. */
export interface LoginBackoff {
  /** Throws the last refusal again while it lasts: a second at first, twice as long each time, at most a minute. */
  check(): void;
  /** Returns the error that it was given. */
  add(error: DriverError): DriverError;
  reset(): void;
}

export function openLoginBackoff(now: () => number = () => performance.now()): LoginBackoff {
  let last: { readonly error: DriverError; readonly lengthMs: number; readonly untilMs: number } | undefined;
  return {
    check() {
      if (last && now() < last.untilMs) throw last.error;
    },
    add(error) {
      const lengthMs = Math.min(60_000, (last?.lengthMs ?? 500) * 2);
      last = { error, lengthMs, untilMs: now() + lengthMs };
      return error;
    },
    reset() {
      last = undefined;
    },
  };
}
