import type { Logger } from "../../logging/create-logger.ts";
import { type CallRate, createCallRate } from "./call-rate.ts";
import { mapCalls, type Send } from "./map-calls.ts";
import { type Provider, ProviderError } from "./provider.ts";

/** Who calls, in the order of precedence: somebody who waits; what may be news of a payment; money going back; polls. */
const lanes = ["buyer", "payment", "refund", "poll"] as const;
export type Lane = (typeof lanes)[number];

/** How long a call may wait for its turn. A buyer's has to fail within the ten seconds of a call. */
const turnTimeoutMs: Readonly<Record<Lane, number>> = { buyer: 8000, payment: 20_000, refund: 20_000, poll: 20_000 };

/** What a poller asks before it takes rows: rows that wait in the database can still be overtaken by newer ones. */
export interface PollBudget {
  /** How many polls may start now. */
  polls(): number;
  /** Milliseconds until at least one may. */
  nextPollMs(): number;
}

export interface ProviderCalls extends PollBudget {
  /** The provider, whose calls have this precedence. */
  at(lane: Lane): Provider;
}

interface PaceOptions {
  readonly log: Logger;
  /** Called for each call that has to wait. */
  readonly onDelay?: (lane: Lane) => void;
}

/**
 * One budget for all calls of a process to its payment provider (docs/internals/money.md). A call that the provider refuses as
 * too many (429) did nothing, so it is made again in its turn; it fails, retryable, when its turn does not come in time.
 */
export function paceCalls(provider: Provider, { log, onDelay = () => {} }: PaceOptions): ProviderCalls {
  const rate = createCallRate();
  const { turn, isIdle } = openQueues(rate, onDelay);

  async function call(lane: Lane, send: () => Promise<unknown>): Promise<unknown> {
    const until = performance.now() + turnTimeoutMs[lane];
    for (let isRetry = false; ; isRetry = true) {
      await turn(lane, until, isRetry);
      const startedAt = performance.now();
      try {
        const answer = await send();
        rate.answered(performance.now());
        return answer;
      } catch (error) {
        if (!(error instanceof ProviderError) || error.httpStatus !== 429) throw error;
        if (rate.limited(performance.now(), startedAt, error.retryAfterMs)) logLimit(log, rate.perSecond());
      }
    }
  }

  const wrap =
    (lane: Lane) =>
    (_: string, send: Send): Send =>
    (...args) =>
      call(lane, () => send(...args));
  return {
    at: (lane) => mapCalls(provider, wrap(lane)),
    polls: () => (isIdle() ? rate.polls(performance.now()) : 0),
    nextPollMs: () => Math.max(isIdle() ? 0 : 100, rate.waitMs(performance.now(), true)),
  };
}

function logLimit(log: Logger, perSecond: number): void {
  const limit = Number.isFinite(perSecond) && { perSecond: Math.round(perSecond * 10) / 10 };
  log.warn(
    { event: "provider.limited", ...limit },
    "the payment provider refused a call as one too many: fewer are made for a while, those of buyers first",
  );
}

interface Turn {
  readonly start: () => void;
}

/** A queue for each lane. The first of the first lane that is not empty starts when the rate allows it. */
function openQueues(rate: CallRate, onDelay: (lane: Lane) => void) {
  const queues = lanes.map((lane) => ({ lane, waiting: [] as Turn[] }));
  const now = () => performance.now();
  let timer: NodeJS.Timeout | undefined;

  function startNext(): void {
    clearTimeout(timer);
    for (const { lane, waiting } of queues)
      while (waiting.length > 0) {
        const waitMs = rate.waitMs(now(), lane === "poll");
        if (waitMs > 0) {
          timer = setTimeout(startNext, Math.ceil(waitMs));
          return;
        }
        rate.start(now(), lane === "poll");
        waiting.shift()?.start();
      }
  }

  return {
    isIdle: () => queues.every(({ waiting }) => waiting.length === 0),
    /** Resolves when a call may start. Throws `ProviderError` when it may not by `until`. */
    turn(lane: Lane, until: number, isRetry: boolean): Promise<void> {
      const waiting = queues[lanes.indexOf(lane)]?.waiting ?? [];
      if (now() + rate.waitMs(now(), lane === "poll") > until) throw tooManyCalls();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const mine: Turn = { start: resolve };
      if (isRetry) waiting.unshift(mine);
      else waiting.push(mine);
      startNext();
      if (!waiting.includes(mine)) return promise;
      if (!isRetry) onDelay(lane);
      const giveUp = setTimeout(() => {
        waiting.splice(waiting.indexOf(mine), 1);
        reject(tooManyCalls());
      }, until - now());
      return promise.finally(() => clearTimeout(giveUp));
    },
  };
}

function tooManyCalls(): ProviderError {
  const details = { retryable: true, code: "TOO_MANY_CALLS", httpStatus: 429 };
  return new ProviderError("the payment provider limits calls, and this one's turn did not come in time", details);
}
