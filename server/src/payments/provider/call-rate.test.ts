import { expect, test } from "vitest";
import { createCallRate } from "./call-rate.ts";

/** Starts calls as soon as they may, for some seconds of a clock that the test moves; returns when each started. */
function starts(
  rate: ReturnType<typeof createCallRate>,
  { from = 0, seconds = 60, isPoll = false, most = 10_000 } = {},
) {
  const times: number[] = [];
  for (let now = from; now < from + seconds * 1000 && times.length < most; ) {
    const waitMs = rate.waitMs(now, isPoll);
    if (waitMs > 0) {
      now += waitMs;
      continue;
    }
    rate.start(now, isPoll);
    times.push(now);
  }
  return times;
}

test("without a refusal calls do not wait, and polls are at most 300 a minute whatever their number", () => {
  const rate = createCallRate();
  expect(starts(rate, { most: 500 })).toEqual(Array(500).fill(0));
  const polls = starts(rate, { isPoll: true });
  expect(polls.length).toBeLessThanOrEqual(305);
  expect(polls.length).toBeGreaterThan(295);
  expect(polls.filter((at) => at === 0)).toHaveLength(5);
});

test("refusals pause all calls, then they come at a share of what was answered, evenly, and polls at half of that", () => {
  const rate = createCallRate();
  for (let n = 0; n < 20; n++) rate.answered(n * 50);
  rate.limited(1000, 900);
  rate.limited(1000, 900);
  expect(rate.perSecond()).toBeCloseTo(19 * 0.7, 5);
  expect(rate.waitMs(1000, false)).toBe(1000);
  const calls = starts(rate, { from: 2000, seconds: 10 });
  expect(calls[0]).toBe(2000);
  expect(calls.length).toBeGreaterThan(130);
  expect(calls.length).toBeLessThan(150);
  expect(Math.min(...calls.slice(1).map((at, n) => at - (calls[n] ?? 0)))).toBeGreaterThan(60);
  expect(starts(rate, { from: 12_000, seconds: 10, isPoll: true }).length).toBeLessThan(56);
});

test("one refusal among many answers only pauses, and a low rate is soon forgotten", () => {
  const rate = createCallRate();
  for (const at of [0, 10_000]) {
    expect(rate.limited(at, at)).toBe(true);
    expect([rate.waitMs(at, false), rate.perSecond()]).toEqual([1000, Number.POSITIVE_INFINITY]);
    for (let n = 0; n < 20; n++) rate.answered(at + 2000 + n);
  }
  rate.limited(20_000, 20_000);
  rate.limited(22_000, 21_500);
  expect(rate.perSecond()).toBe(7);
  rate.waitMs(22_000 + 5 * 60_000, false);
  expect(rate.perSecond()).toBe(Number.POSITIVE_INFINITY);
});

test("refusals of calls that began before the last one count once; later ones double the pause, an answer ends that", () => {
  const rate = createCallRate();
  expect([rate.limited(100, 50), rate.limited(105, 55), rate.limited(110, 60)]).toEqual([true, true, false]);
  expect(rate.perSecond()).toBe(7);
  expect(rate.waitMs(110, false)).toBe(990);
  rate.limited(1200, 1150);
  expect(rate.waitMs(1200, false)).toBe(2000);
  rate.answered(3300);
  rate.limited(3400, 3350);
  expect(rate.waitMs(3400, false)).toBe(1000);
});

test("the provider's Retry-After is kept to, for at most a minute", () => {
  const rate = createCallRate();
  rate.limited(0, 0, 7000);
  expect(rate.waitMs(0, false)).toBe(7000);
  rate.limited(100, 0, 3_600_000);
  expect(rate.waitMs(100, false)).toBe(60_000);
});

test("against 5 calls a second some 4 in 5 are used, with few refusals, and without a limit the rate is forgotten", () => {
  const rate = createCallRate();
  let accepted: number[] = [];
  let [calls, refusals] = [0, 0];
  for (let now = 0; now < 600_000; now += Math.max(1, rate.waitMs(now, false))) {
    if (rate.waitMs(now, false) > 0) continue;
    rate.start(now, false);
    accepted = accepted.filter((at) => at > now - 1000);
    if (accepted.length < 5) {
      accepted.push(now);
      calls++;
      rate.answered(now);
    } else {
      refusals++;
      rate.limited(now, now);
    }
  }
  expect(calls).toBeGreaterThan(600 * 5 * 0.75);
  expect(refusals).toBeLessThan(50);
  for (let now = 600_000; now < 6_000_000; now += 1000) rate.waitMs(now, false);
  expect(starts(rate, { from: 6_000_000, seconds: 1, most: 500 })).toHaveLength(500);
});
