import { expect, test } from "vitest";
import { memoize } from "./memoize.ts";

test("concurrent calls share one value, which expires; a failure is not cached", async () => {
  let reads = 0;
  const ask = memoize(async () => {
    reads += 1;
    if (reads === 1) throw new Error("out for a moment");
    return reads;
  });
  await expect(ask()).rejects.toThrow("out for a moment");
  expect(await Promise.all([ask(), ask(), ask()])).toEqual([2, 2, 2]);
  expect(await ask()).toBe(2);
  await expect.poll(ask, { timeout: 5000, interval: 200 }).toBe(3);
});
