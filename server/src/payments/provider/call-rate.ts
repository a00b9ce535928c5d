/** Polls and the like, whatever their number: at most 300 a minute in each process. */
const pollsPerSecond = 5;
/** Polls may catch up on so much idle time, and so come in batches. */
const pollBurstMs = 800;
/** Each time the rate falls to this share, and is back after the recovery. */
const cut = 0.7;
const recoverySeconds = 30;
/** Fewer answers in a second than this say that few asked, not that few are answered. */
const leastKnown = 10;
const leastPerSecond = 0.2;
/** A rate that has grown so far is no limit any more. */
const unlimitedPerSecond = 100;
/** A refusal among so many answers is one of chance, or of a rate that is as high as it may be. */
const answersOfOne = 20;
const firstPauseMs = 1000;
const longestPauseMs = 60_000;

export type CallRate = ReturnType<typeof createCallRate>;

/** Times are of one clock, in milliseconds; the earliest ones are those before it began. */
interface State {
  perSecond: number;
  grownAt: number;
  pausedUntil: number;
  lastPauseMs: number;
  /** Refusals of calls that began before say nothing new: of the last pause, and of the last cut. */
  pausedAt: number;
  cutAt: number;
  /** When the answers of the last second came. */
  answers: readonly number[];
  answersSinceRefusal: number;
  /** When the next call, and the next poll, would be due at an even pace. */
  nextCallAt: number;
  nextPollAt: number;
}

/**
 * How often the provider may be called. Without a limit until it refuses calls as too many (429): then all pause, for as long as
 * it says or 1 s doubled, and unless the refusal was one among many answers the rate falls and grows back (AIMD). Calls are
 * spaced evenly.
 */
export function createCallRate() {
  const [first, never] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const state: State = {
    ...{ perSecond: first, grownAt: 0, lastPauseMs: 0, answers: [], answersSinceRefusal: answersOfOne },
    ...{ pausedUntil: never, pausedAt: never, cutAt: never, nextCallAt: 0, nextPollAt: 0 },
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
      state.answersSinceRefusal++;
      state.answers = [...state.answers.filter((at) => at > now - 1000), now];
    },
    perSecond: () => state.perSecond,
    /** A call that began at `startedAt` was refused as too many. Returns whether that is news. */
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
  state.perSecond *= cut ** ((from - now) / 1000 / recoverySeconds);
  if (state.perSecond >= unlimitedPerSecond) state.perSecond = Number.POSITIVE_INFINITY;
  state.grownAt = now;
}

interface Refusal {
  readonly now: number;
  readonly startedAt: number;
  readonly retryAfterMs: number | undefined;
}

function slowDown(state: State, { now, startedAt, retryAfterMs }: Refusal): boolean {
  grow(state, now);
  const isAlone = state.answersSinceRefusal >= answersOfOne;
  state.answersSinceRefusal = 0;
  const pauses = startedAt > state.pausedAt;
  if (pauses) {
    state.pausedAt = now;
    state.lastPauseMs = Math.min(longestPauseMs, state.lastPauseMs * 2 || firstPauseMs);
  }
  const pauseMs = retryAfterMs ?? (pauses ? state.lastPauseMs : 0);
  state.pausedUntil = Math.max(state.pausedUntil, now + Math.min(pauseMs, longestPauseMs));
  const cuts = !isAlone && startedAt > state.cutAt;
  if (cuts) {
    const answered = state.answers.filter((at) => at > now - 1000).length;
    const reached = state.perSecond === Number.POSITIVE_INFINITY ? Math.max(leastKnown, answered) : state.perSecond;
    state.perSecond = Math.max(leastPerSecond, reached * cut);
    state.cutAt = now;
  }
  return pauses || cuts;
}
