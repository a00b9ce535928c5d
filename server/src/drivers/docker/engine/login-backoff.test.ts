import { expect, test } from "vitest";
import { DriverError } from "../../driver.ts";
import { openLoginBackoff } from "./login-backoff.ts";

test("a refused login is refused again without a try for 1, 2, 4 ... 60 s, until one succeeds", () => {
  let nowMs = 0;
  const backoff = openLoginBackoff(() => nowMs);
  const refusal = new DriverError("unavailable", "does not let gpu in");
  backoff.check();
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    expect(backoff.add(refusal)).toBe(refusal);
    nowMs += seconds * 1000 - 1;
    expect(() => backoff.check()).toThrow("does not let gpu in");
    nowMs += 1;
    backoff.check();
  }
  backoff.reset();
  backoff.add(refusal);
  nowMs += 1000;
  backoff.check();
});
