import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { recordLog } from "../../logging/testing/record-log.ts";
import { type Lane, paceCalls } from "./pace-calls.ts";
import { type Provider, ProviderError } from "./provider.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const tooMany = (retryAfterMs?: number) =>
  new ProviderError("Too many requests", { retryable: true, code: "BAD_REQUEST_ERROR", httpStatus: 429, retryAfterMs });

/** A provider that answers with the id that is asked for, or refuses while `refusals` are left. */
function setup() {
  const asked: string[] = [];
  const state = { refusals: [] as ProviderError[] };
  const payment = async (id: string) => {
    asked.push(id);
    const refusal = state.refusals.shift();
    if (refusal) throw refusal;
    return id;
  };
  const { log, lines } = recordLog();
  const delayed: Lane[] = [];
  const provider = { kind: "embedded", keyId: "key", payment } as unknown as Provider;
  const calls = paceCalls(provider, { log, onDelay: (lane) => delayed.push(lane) });
  const call = (lane: Lane, id: string) => calls.at(lane).payment(id).then(String, String);
  return { calls, call, asked, state, delayed, lines };
}

test("a call that was one too many is made again after the pause, and its caller has an answer", async () => {
  const { call, asked, state, lines, calls } = setup();
  state.refusals = [tooMany(3000)];
  const answer = call("buyer", "pay_1");
  await vi.advanceTimersByTimeAsync(2990);
  expect(asked).toEqual(["pay_1"]);
  expect(calls.polls()).toBe(0);
  await vi.advanceTimersByTimeAsync(20);
  expect(await answer).toBe("pay_1");
  expect(asked).toEqual(["pay_1", "pay_1"]);
  expect(lines.filter(({ event }) => event === "provider.limited")).toHaveLength(1);
});

test("of those who wait buyers go first, then payments, refunds and polls", async () => {
  const { call, asked, state, delayed } = setup();
  state.refusals = [tooMany()];
  const all = [call("poll", "refused")];
  await vi.advanceTimersByTimeAsync(0);
  for (const lane of ["poll", "refund", "payment", "buyer"] as const)
    all.push(...[1, 2].map((n) => call(lane, `${lane} ${n}`)));
  await vi.advanceTimersByTimeAsync(19_000);
  await Promise.all(all);
  expect(asked).toEqual([
    ...["refused", "buyer 1", "buyer 2", "payment 1", "payment 2", "refund 1", "refund 2"],
    ...["refused", "poll 1", "poll 2"],
  ]);
  expect(delayed).toHaveLength(8);
});

test("a call whose turn does not come in time fails so that its row is tried again, and does not reach the provider", async () => {
  const { calls, asked, state } = setup();
  state.refusals = [tooMany(60_000)];
  const first = calls.at("buyer").payment("pay_1");
  const refused = expect(first).rejects.toMatchObject({ retryable: true, code: "TOO_MANY_CALLS" });
  await vi.advanceTimersByTimeAsync(0);
  await refused;
  await expect(calls.at("poll").payment("pay_2")).rejects.toMatchObject({ retryable: true, httpStatus: 429 });
  expect(asked).toEqual(["pay_1"]);
});

test("other failures reach the caller at once", async () => {
  const { call, asked, state } = setup();
  state.refusals = [new ProviderError("away", { retryable: true, code: "NETWORK" })];
  expect(await call("buyer", "pay_1")).toContain("away");
  expect(asked).toHaveLength(1);
});

test("polls beyond the budget wait and leave others alone", async () => {
  const { calls, call, asked, delayed } = setup();
  expect(calls.polls()).toBe(5);
  const polls = Array.from({ length: 8 }, (_, n) => call("poll", `poll ${n}`));
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toHaveLength(5);
  expect([calls.polls(), delayed.length]).toEqual([0, 3]);
  expect(calls.nextPollMs()).toBeGreaterThan(0);
  expect(await call("buyer", "buyer")).toBe("buyer");
  await vi.advanceTimersByTimeAsync(600);
  await Promise.all(polls);
  expect(asked).toHaveLength(9);
});
