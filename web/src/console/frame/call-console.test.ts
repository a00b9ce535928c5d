import { operatorSession } from "@berth/contract/console/session";
import { afterEach, expect, test, vi } from "vitest";
import { callConsole } from "./call-console.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test("an act whose answer is lost fails after 30 s, so that its dialog says so (G357)", async () => {
  vi.useFakeTimers();
  vi.stubGlobal(
    "fetch",
    (_url: string, { signal }: RequestInit) =>
      new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
  );
  const outcome = callConsole(operatorSession, { params: {}, body: {} }).catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(await Promise.race([outcome, "waits"])).toBe("waits");
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await Promise.race([outcome, "waits"])).toMatchObject({ code: "network" });
});
