import type { Logger } from "../logging/create-logger.ts";
export interface Loop {
  /** Runs the work now instead of at the end of the interval. */
  trigger(): void;
  /** Lets the pass in progress finish, then ends. */
  stop(): Promise<void>;
}

/** One for each, such as each host, so that one that hangs holds only itself. */
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
  /** `loop` in the lines of its failures. */
  readonly name: string;
  /** Returns how many milliseconds it would like to wait; it never waits longer than the interval. */
  readonly work: () => Promise<number>;
  readonly intervalMs: number;
  readonly log: Logger;
}

/** Repeats work until it is stopped: at once after a trigger, otherwise after its wait. A pass that fails is logged. */
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
