import { expect, test } from "vitest";
import { p95Of, ratioOf, spreadOf } from "./figure.ts";

const upTo = (n: number) => Array.from({ length: n }, (_, at) => at + 1);

test("the spread holds the median in at least 95 of 100 runs, and no narrower one does by much", () => {
  for (let n = 6; n <= 400; n++) {
    const { low, high } = spreadOf(upTo(n));
    expect(high).toBe(n + 1 - low);
    expect(covered(n, low - 1), `${n} samples`).toBeGreaterThanOrEqual(0.95);
    expect(covered(n, low + 1), `${n} samples`).toBeLessThan(0.95);
  }
});

/** The chance that as many as `outside` and fewer of n samples lie on no side of the true median. */
function covered(n: number, outside: number): number {
  let chance = 0.5 ** n;
  let below = chance;
  for (let k = 1; k <= outside; k++) {
    chance = (chance * (n - k + 1)) / k;
    below += chance;
  }
  return 1 - 2 * below;
}

test("the spread of fewer than six samples is all of them", () => {
  expect(spreadOf([5, 1, 3, 2, 9])).toEqual({ mid: 3, low: 1, high: 9 });
  expect(spreadOf([4])).toEqual({ mid: 4, low: 4, high: 4 });
  expect(() => spreadOf([])).toThrow("no median of []");
});

test("a ratio is that of pairs: a minute in which the machine is slow for both changes nothing", () => {
  const figure = { name: "a", unit: "ms", samples: [10, 100, 12], peer: [20, 200, 24] } as const;
  expect(ratioOf(figure)).toEqual({ mid: 0.5, low: 0.5, high: 0.5 });
  expect(() => ratioOf({ ...figure, peer: [1] })).toThrow("a: 3 samples, 1 of its peer");
});

test("no 95th percentile of fewer than 20 samples", () => {
  expect(p95Of({ name: "a", unit: "ms", samples: upTo(19) })).toBeUndefined();
  expect(p95Of({ name: "a", unit: "ms", samples: upTo(20) })).toBe(19);
  expect(p95Of({ name: "a", unit: "1/s", samples: upTo(20) })).toBe(1);
});
