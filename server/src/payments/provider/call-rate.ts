/** Polls and the like, whatever their number: at most 300 a minute in each process. */
const pollsPerSecond = 5;
/** Polls may catch up on so much idle time, and so come in batches. */
const pollBurstMs = 800;
/** After a refusal the rate falls to this share of what was answered, and is back after the recovery. */
const cut = 0.7;
const recoverySeconds = 30;
const leastPerSecond = 0.2;
/** A rate that has grown so far is no limit any more. */
const unlimitedPerSecond = 100;
const firstPauseMs = 1000;
const longestPauseMs = 60_000;

export type CallRate = ReturnType<typeof createCallRate>;

/** Times are of one clock, in milliseconds; the earliest ones are those before it began. */
interface State {
  perSecond: number;
  /** Added to the rate each second. */
  growth: number;
  grownAt: number;
  pausedUntil: number;
  lastPauseMs: number;
  /** Calls that began before it say nothing about the present rate. */
  slowedAt: number;
  /** When the answers of the last second came. */
  answers: readonly number[];
  /** When the next call, and the next poll, would be due at an even pace. */
  nextCallAt: number;
  nextPollAt: number;
}

/**
 * How often the provider may be called. Without a limit until it refuses a call as too many (429); then it pauses, for as long
 * as the provider says or 1 s doubled, falls to a share of what was answered and grows again (AIMD). Calls are spaced evenly.
 */
export function createCallRate() {
  const state: State = {
    ...{ perSecond: Number.POSITIVE_INFINITY, growth: 0, grownAt: 0, lastPauseMs: 0, answers: [] },
    ...{ pausedUntil: Number.NEGATIVE_INFINITY, slowedAt: Number.NEGATIVE_INFINITY, nextCallAt: 0, nextPollAt: 0 },
  };
  /** Milliseconds until a call may start; 0: now. */
  const waitMs = (now: number, isPoll: boolean) => {
    grow(state, now);
    return Math.max(
      0,
      state.pausedUntil - now,
      state.nextCallAt - now,
      isPoll ? state.nextPollAt - pollBurstMs - now : 0,
    );
  };
  return {
    waitMs,
    start(now: number, isPoll: boolean): void {
      state.nextCallAt = Math.max(state.nextCallAt, now) + 1000 / state.perSecond;
      if (isPoll) state.nextPollAt = Math.max(state.nextPollAt, now) + 1000 / pollRate(state);
    },
    /** How many polls may start now or within their burst. */
    polls(now: number): number {
      if (waitMs(now, true) > 0) return 0;
      return 1 + Math.floor(((now + pollBurstMs - Math.max(state.nextPollAt, now)) * pollRate(state)) / 1000);
    },
    answered(now: number): void {
      state.lastPauseMs = 0;
      state.answers = [...state.answers.filter((at) => at > now - 1000), now];
    },
    /** A call that began at `startedAt` was refused as too many. Returns the new rate, undefined if that was known. */
    limited: (now: number, startedAt: number, retryAfterMs?: number) =>
      slowDown(state, { now, startedAt, retryAfterMs }),
  };
}

function pollRate({ perSecond }: State): number {
  return Math.min(pollsPerSecond, perSecond / 2);
}

function grow(state: State, now: number): void {
  const from = Math.max(state.grownAt, state.pausedUntil);
  if (now <= from) return;
  state.perSecond += (state.growth * (now - from)) / 1000;
  if (state.perSecond >= unlimitedPerSecond) state.perSecond = Number.POSITIVE_INFINITY;
  state.grownAt = now;
}

interface Refusal {
  readonly now: number;
  readonly startedAt: number;
  readonly retryAfterMs: number | undefined;
}

function slowDown(state: State, { now, startedAt, retryAfterMs }: Refusal): number | undefined {
  const pauseUntil = (ms: number) => {
    state.pausedUntil = Math.max(state.pausedUntil, now + Math.min(ms, longestPauseMs));
  };
  if (retryAfterMs !== undefined) pauseUntil(retryAfterMs);
  if (startedAt <= state.slowedAt) return undefined;
  grow(state, now);
  const answered = Math.max(1, state.answers.filter((at) => at > now - 1000).length);
  const reached = state.perSecond === Number.POSITIVE_INFINITY ? answered : state.perSecond;
  state.perSecond = Math.max(leastPerSecond, reached * cut);
  state.growth = (reached * (1 - cut)) / recoverySeconds;
  state.slowedAt = now;
  state.lastPauseMs = Math.min(longestPauseMs, state.lastPauseMs * 2 || firstPauseMs);
  if (retryAfterMs === undefined) pauseUntil(state.lastPauseMs);
  return state.perSecond;
}
