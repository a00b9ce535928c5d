import { expect, onTestFinished, test, vi } from "vitest";
import { batch } from "./batch.ts";

test("calls of one turn are one batch, each with its own result; the next turn is another batch", async () => {
  const seen: (readonly number[])[] = [];
  const double = batch(async (all: readonly number[]) => {
    seen.push(all);
    return all.map((each) => each * 2);
  });
  const first = Promise.all([double(1), double(2), Promise.resolve().then(() => double(3))]);
  expect(await first).toEqual([2, 4, 6]);
  expect(await double(4)).toBe(8);
  expect(seen).toEqual([[1, 2, 3], [4]]);
});

test("a failed batch rejects each of its calls, and no later one", async () => {
  let fails = true;
  const work = batch(async (all: readonly string[]) => {
    if (fails) throw new Error("away");
    return all;
  });
  expect(await Promise.allSettled([work("a"), work("b")])).toMatchObject([
    { status: "rejected", reason: { message: "away" } },
    { status: "rejected", reason: { message: "away" } },
  ]);
  fails = false;
  expect(await work("c")).toBe("c");
});

test("calls of a given time are one batch, over turns of the event loop", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const batches: number[] = [];
  const one = batch(async (all: readonly number[]) => {
    batches.push(all.length);
    return all;
  }, 200);
  const first = one(1);
  await new Promise((resolve) => setImmediate(resolve));
  const both = Promise.all([first, one(2)]);
  vi.advanceTimersByTime(200);
  expect(await both).toEqual([1, 2]);
  expect(batches).toEqual([2]);
});
