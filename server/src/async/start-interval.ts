import type { Logger } from "../logging/create-logger.ts";

export interface Loop {
  /** Runs the work now instead of after the interval. */
  trigger(): void;
  /** Resolves once the pass in progress has finished. */
  stop(): Promise<void>;
}

/** Combines loops, such as one for each host, so that one that hangs does not block the others. */
export function allLoops(loops: readonly Loop[]): Loop {
  return {
    trigger() {
      for (const loop of loops) loop.trigger();
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

export interface Interval {
  /** The field `loop` in the log of failures. */
  readonly name: string;
  /** Returns the milliseconds until the next pass, which are capped at the interval. */
  readonly work: () => Promise<number>;
  readonly intervalMs: number;
  readonly log: Logger;
}

/** A pass that failed, such as in an outage of the database, does not wait for the next one of a slow loop (G356). */
const longestRetryMs = 60_000;

/** Repeats work until it is stopped, at once after a trigger. A failed pass is logged, and repeated within a minute. */
export function startInterval({ name, work, intervalMs, log }: Interval): Loop {
  let stopping = false;
  let triggered = false;
  let wake = () => {};
  const ended = run();

  async function run(): Promise<void> {
    while (!stopping) {
      triggered = false;
      let waitMs = intervalMs;
      try {
        waitMs = Math.min(intervalMs, await work());
      } catch (err) {
        log.error({ event: "loop.failed", loop: name, err });
        waitMs = Math.min(intervalMs, longestRetryMs);
      }
      await pause(waitMs);
    }
  }

  async function pause(ms: number): Promise<void> {
    if (triggered || stopping) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    wake = resolve;
    await promise;
    clearTimeout(timer);
  }

  return {
    trigger() {
      triggered = true;
      wake();
    },
    async stop() {
      stopping = true;
      wake();
      await ended;
    },
  };
}
