import { withTimeout } from "../../async/with-timeout.ts";
import { DriverError } from "../driver.ts";

/** Counts the megabytes of a home, at most for the time of an operation or for as long as it takes. */
interface Counters {
  readonly count: (home: string) => Promise<number>;
  readonly countInBackground: (home: string) => Promise<number>;
}

interface LastCount {
  readonly mb?: number | undefined;
  /** The failure of the newest count, which is cached too. */
  readonly error?: unknown;
  readonly atMs: number;
}

const recentMs = 5 * 60_000;
const firstCountMs = 2_000;
/** Limit of a count in the background. */
export const backgroundLimitMs = 10 * 60_000;

/** `HomeStore.sizeMb` and `HomeStore.recentMb`, and how to forget a home that was deleted. */
export function openSizeCache({ count, countInBackground }: Counters) {
  const known = new Map<string, LastCount>();
  const counting = new Map<string, Promise<number>>();

  function startCount(home: string): Promise<number> {
    const running = countInBackground(home);
    const done = (last: Omit<LastCount, "atMs">) => {
      if (counting.get(home) !== running) return;
      counting.delete(home);
      known.set(home, { ...last, atMs: performance.now() });
    };
    counting.set(home, running);
    running.then(
      (mb) => done({ mb }),
      (error) => done({ mb: known.get(home)?.mb, error }),
    );
    return running;
  }

  return {
    async sizeMb(home: string) {
      const mb = await count(home);
      known.set(home, { mb, atMs: performance.now() });
      return mb;
    },
    async recentMb(home: string) {
      const last = known.get(home);
      const isRecent = last !== undefined && performance.now() - last.atMs < recentMs;
      const running = isRecent ? undefined : (counting.get(home) ?? startCount(home));
      if (last?.mb !== undefined) return last.mb;
      if (!running) throw last?.error;
      return await withTimeout(running, firstCountMs, () => {
        throw new DriverError("unavailable", `the files of ${home} are still being counted`);
      });
    },
    forget(home: string) {
      counting.delete(home);
      known.delete(home);
    },
  };
}
