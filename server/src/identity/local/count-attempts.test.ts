import { sql } from "kysely";
import { expect, test } from "vitest";
import { addressKey } from "../../http/limit-requests.ts";
import { testInstallation } from "../testing/test-installation.ts";
import { countAttempts } from "./count-attempts.ts";

const { db } = await testInstallation();

let accounts = 0;

/** Every test uses an account of its own, because all share one database. */
function setup({ perMinute = 10, failuresPerDay = 20 } = {}) {
  const account = `ann ${accounts++}`;
  const known: string[] = [];
  const start = () => countAttempts(db, { perMinute, failuresPerDay });
  const attempts = start();
  const begin = (from: string, { by = attempts, who = account } = {}) =>
    by.begin(who, { network: addressKey(from), familiar: known.includes(from) });
  const guess = (...asked: Parameters<typeof begin>) =>
    begin(...asked).then(
      ({ mayPass, refusal }) => (mayPass ? "counted" : (refusal?.retryAfterSeconds as number)),
      (error) => error.retryAfterSeconds as number,
    );
  return { account, attempts, start, known, begin, guess };
}

/** Simulates passed time. */
const passSeconds = (seconds: number) =>
  sql`update attempt_windows set ends_at = ends_at - make_interval(secs => ${seconds})`.execute(db);

async function repeat(times: number, guess: (n: number) => Promise<unknown>): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  for (let n = 0; n < times; n++) outcomes.push(await guess(n));
  return outcomes;
}

const counted = (outcomes: readonly unknown[]) => outcomes.filter((outcome) => outcome === "counted").length;

test("ten attempts per minute for an account and network, then the seconds until the window ends", async () => {
  const { guess } = setup();
  expect(counted(await repeat(10, () => guess("192.0.2.1")))).toBe(10);
  await passSeconds(20);
  const left = (await guess("192.0.2.1")) as number;
  expect(left).toBeGreaterThan(20);
  expect(left).toBeLessThanOrEqual(40);
  expect(await guess("192.0.2.2")).toBe("counted");
  expect(await guess("192.0.2.1", { who: "bob" })).toBe("counted");
  await passSeconds(40);
  expect(await guess("192.0.2.1")).toBe("counted");
});

test("an IPv6 /64 is one network, and an IPv4-mapped IPv6 address is its IPv4 address", async () => {
  const { guess } = setup({ perMinute: 1 });
  expect(await guess("2001:db8:1:2::1")).toBe("counted");
  expect(await guess("2001:db8:1:2:ffff:ffff:ffff:ffff")).not.toBe("counted");
  expect(await guess("2001:db8:1:3::1")).toBe("counted");
  expect(await guess("::ffff:192.0.2.1")).toBe("counted");
  expect(await guess("192.0.2.1")).not.toBe("counted");
});

test("parallel guesses at several servers count like sequential ones at one", async () => {
  const { guess, start } = setup();
  const servers = [start(), start(), start()];
  const outcomes = await Promise.all(Array.from({ length: 60 }, (_, n) => guess("192.0.2.1", { by: servers[n % 3] })));
  expect(counted(outcomes)).toBe(10);
});

test("guesses from many networks are limited, and the owner's own network is still allowed", async () => {
  const { known, guess, begin } = setup();
  known.push("198.51.100.7");
  expect(counted(await repeat(60, (n) => guess(`2001:db8:${n.toString(16)}::1`)))).toBe(20);

  const owner = await begin("198.51.100.7");
  await owner.succeeded();
  const left = await guess("203.0.113.9");
  expect(left, "the owner's success does not reset the failures of other networks").toBeGreaterThan(86_000);
  await passSeconds(86_400);
  expect(await guess("203.0.113.9")).toBe("counted");
});

test("a familiar network has one limit of its own", async () => {
  const { known, guess } = setup({ perMinute: 1_000 });
  known.push("198.51.100.7");
  expect(counted(await repeat(60, () => guess("198.51.100.7")))).toBe(40);
});

test("past the failures a wrong password is refused alike on every network, known or not", async () => {
  const { known, guess, begin } = setup();
  known.push("198.51.100.7");
  await repeat(20, (n) => guess(`2001:db8:${n.toString(16)}::1`));
  const refusalOn = async (network: string) => (await begin(network)).refusal;
  const onKnown = await refusalOn("198.51.100.7");
  expect(onKnown).toMatchObject({ code: "TOO_MANY_ATTEMPTS_TRY_LATER" });
  expect(onKnown).toEqual(await refusalOn("203.0.113.9"));
});

test("a success takes back its own attempt alone, and a password reset all, at every server", async () => {
  const { account, start, guess, begin } = setup({ perMinute: 1_000 });
  await repeat(19, () => guess("192.0.2.1"));
  await (await begin("192.0.2.1")).succeeded();
  expect(counted(await repeat(20, () => guess("192.0.2.1")))).toBe(1);
  await start().forget(account);
  expect(await guess("192.0.2.1")).toBe("counted");
});

test("on a familiar network a success resets that network's failures", async () => {
  const { known, guess, begin } = setup({ perMinute: 1_000 });
  known.push("198.51.100.7");
  await repeat(39, () => guess("198.51.100.7"));
  await (await begin("198.51.100.7")).succeeded();
  expect(counted(await repeat(30, () => guess("198.51.100.7")))).toBe(20);
});
