import { type Loop, startLoop } from "../async/start-interval.ts";
import type { ChangeKind, Changes } from "./changes.ts";

interface Woken {
  readonly changes: Changes;
  /** Which changes are a reason to look now. */
  readonly by: readonly ChangeKind[];
  /** Answers how many milliseconds it would like to wait. */
  readonly work: () => Promise<number>;
  readonly intervalMs: number;
  readonly failed: (error: unknown) => void;
}

/** A loop that does not wait for its interval when something of its kind has changed, or may have while nobody heard. */
export function startWokenLoop({ changes, by, work, intervalMs, failed }: Woken): Loop {
  const loop = startLoop(work, intervalMs, failed);
  const unsubscribe = changes.subscribe(({ kind }) => by.includes(kind) && loop.nudge(), loop.nudge);
  return {
    nudge: loop.nudge,
    stop() {
      unsubscribe();
      return loop.stop();
    },
  };
}
