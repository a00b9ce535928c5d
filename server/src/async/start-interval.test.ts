import { afterEach, expect, test, vi } from "vitest";
import { silentLogger } from "../logging/create-logger.ts";
import { startInterval } from "./start-interval.ts";

afterEach(() => vi.useRealTimers());

test("a failed pass of a slow loop is repeated within a minute, and a good one after its interval", async () => {
  vi.useFakeTimers();
  let passes = 0;
  const loop = startInterval({
    name: "slow",
    work: async () => {
      if (passes++ === 0) throw new Error("timeout exceeded when trying to connect");
      return 600_000;
    },
    intervalMs: 600_000,
    log: silentLogger,
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(passes).toBe(2);
  await vi.advanceTimersByTimeAsync(599_000);
  expect(passes).toBe(2);
  await loop.stop();
});
