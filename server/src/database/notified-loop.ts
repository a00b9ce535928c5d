import { type Interval, type Loop, startInterval } from "../async/start-interval.ts";
import type { ChangeKind, Changes } from "./changes.ts";

interface NotifiedLoop extends Interval {
  readonly changes: Changes;
  /** The kinds of change that trigger it. */
  readonly on: readonly ChangeKind[];
}

/** A loop that is triggered by changes of its kinds, and after a lost connection, when changes may have been missed. */
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
