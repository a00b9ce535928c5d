import { type Interval, type Loop, startInterval } from "../async/start-interval.ts";
import type { ChangeKind, Changes } from "./changes.ts";

interface NotifiedLoop extends Interval {
  readonly changes: Changes;
  /** Kinds of change that trigger the loop. */
  readonly on: readonly ChangeKind[];
}

/** A loop triggered by notifications of these kinds, and after a lost connection, when notifications may be lost. */
export function startNotifiedLoop({ changes, on, ...interval }: NotifiedLoop): Loop {
  const loop = startInterval(interval);
  const unsubscribe = changes.subscribe(({ kind }) => on.includes(kind) && loop.trigger(), loop.trigger);
  return {
    trigger: loop.trigger,
    stop() {
      unsubscribe();
      return loop.stop();
    },
  };
}
