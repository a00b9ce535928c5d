export interface Loop {
  /** Runs the work now instead of at the end of the interval. */
  nudge(): void;
  /** Lets the pass in progress finish, then ends. */
  stop(): Promise<void>;
}

/** One for each, such as each host, so that one that hangs holds only itself. */
export function allLoops(loops: readonly Loop[]): Loop {
  return {
    nudge() {
      for (const loop of loops) loop.nudge();
    },
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}

/**
 * Repeats work for ever: again at once after a nudge, otherwise after the shorter of the interval and what the work
 * asks for. `work` answers how many milliseconds it would like to wait.
 */
export function startLoop(work: () => Promise<number>, intervalMs: number, failed: (error: unknown) => void): Loop {
  let stopping = false;
  let nudged = false;
  let wake = () => {};
  const ended = run();

  async function run(): Promise<void> {
    while (!stopping) {
      nudged = false;
      let waitMs = intervalMs;
      try {
        waitMs = Math.min(intervalMs, await work());
      } catch (error) {
        failed(error);
      }
      await pause(waitMs);
    }
  }

  async function pause(ms: number): Promise<void> {
    if (nudged || stopping) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    wake = resolve;
    await promise;
    clearTimeout(timer);
  }

  return {
    nudge() {
      nudged = true;
      wake();
    },
    async stop() {
      stopping = true;
      wake();
      await ended;
    },
  };
}
