import { setImmediate as turn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { withTimeout } from "./with-timeout.ts";

const never = new Promise<string>(() => {});

test("work in time keeps its result or failure, and leaves no timer", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    expect(await withTimeout(Promise.resolve("done"), 1000, () => "late")).toBe("done");
    await expect(withTimeout(Promise.reject(new Error("broken")), 1000, () => "late")).rejects.toThrow("broken");
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("after the timeout the caller's value or error counts, and a late failure is no unhandled rejection", async () => {
  const late = Promise.withResolvers<string>();
  expect(await withTimeout(never, 1, () => "late")).toBe("late");
  const timeout = () => {
    throw new Error("no response within 1 ms");
  };
  await expect(withTimeout(late.promise, 1, timeout)).rejects.toThrow("no response within 1 ms");
  late.reject(new Error("dropped"));
  await turn();
});
