import { expect, onTestFinished, test, vi } from "vitest";
import { countAttempts } from "./attempts.ts";

function setup(perMinute = 10) {
  vi.useFakeTimers({ toFake: ["Date"], now: new Date("2026-03-01T12:00:00Z") });
  onTestFinished(() => void vi.useRealTimers());
  const attempts = countAttempts({ perMinute });
  const known: string[] = [];
  const begin = (account: string, from: string) => attempts.begin(account, from, async () => known);
  const guess = (account: string, from: string) =>
    begin(account, from).then(
      () => "counted",
      (error) => error.retryAfterSeconds as number,
    );
  return { attempts, known, begin, guess };
}

async function repeat(times: number, guess: (turn: number) => Promise<unknown>): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (let turn = 0; turn < times; turn++) outcomes.push(await guess(turn));
  return outcomes;
}

test("ten attempts a minute for one account from one place, then the seconds until the minute ends", async () => {
  const { guess } = setup();
  const outcomes = await repeat(10, () => guess("ann", "192.0.2.1"));
  expect(new Set(outcomes)).toEqual(new Set(["counted"]));
  vi.setSystemTime(Date.now() + 20_000);
  expect(await guess("ann", "192.0.2.1")).toBe(40);
  expect(await guess("ann", "192.0.2.2")).toBe("counted");
  expect(await guess("bob", "192.0.2.1")).toBe("counted");
  vi.setSystemTime(Date.now() + 40_000);
  expect(await guess("ann", "192.0.2.1")).toBe("counted");
});

test("a /64 of IPv6 is one place, and an IPv4 address in IPv6 clothes is itself", async () => {
  const { guess } = setup(1);
  expect(await guess("ann", "2001:db8:1:2::1")).toBe("counted");
  expect(await guess("ann", "2001:db8:1:2:ffff:ffff:ffff:ffff")).toBe(60);
  expect(await guess("ann", "2001:db8:1:3::1")).toBe("counted");
  expect(await guess("ann", "::ffff:192.0.2.1")).toBe("counted");
  expect(await guess("ann", "192.0.2.1")).toBe(60);
});

test("guesses in parallel count like guesses in a row", async () => {
  const { guess } = setup();
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => guess("ann", "192.0.2.1")));
  expect(outcomes.filter((outcome) => outcome === "counted")).toHaveLength(10);
});

test("2,000 guesses from everywhere: 100 are looked at, and the owner's own place still gets in", async () => {
  const { known, guess, begin } = setup();
  known.push("198.51.100.7");
  const outcomes = await repeat(2000, (turn) => guess("ann", `2001:db8:${turn.toString(16)}::1`));
  expect(outcomes.filter((outcome) => outcome === "counted")).toHaveLength(100);

  const owner = await begin("ann", "198.51.100.7");
  owner.succeeded();
  expect(await guess("ann", "203.0.113.9"), "the owner's success is no new hundred for strangers").toBe(86_400);
  vi.setSystemTime(Date.now() + 86_400_000);
  expect(await guess("ann", "203.0.113.9")).toBe("counted");
});

test("a place the owner knows has a hundred of its own, not more", async () => {
  const { known, guess } = setup(1_000);
  known.push("198.51.100.7");
  const outcomes = await repeat(300, () => guess("ann", "198.51.100.7"));
  expect(outcomes.filter((outcome) => outcome === "counted")).toHaveLength(200);
});

test("a success ends the row, and so does a password reset", async () => {
  const { attempts, guess, begin } = setup(1_000);
  await repeat(99, () => guess("ann", "192.0.2.1"));
  (await begin("ann", "192.0.2.1")).succeeded();
  await repeat(100, () => guess("ann", "192.0.2.1"));
  expect(await guess("ann", "192.0.2.1")).toBe(86_400);
  attempts.forget("ann");
  expect(await guess("ann", "192.0.2.1")).toBe("counted");
});
