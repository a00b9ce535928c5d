import { allLoops, type Loop, startLoop } from "../../async/start-interval.ts";
import type { Db } from "../../database/database.ts";
import { type Driver, DriverError } from "../../drivers/driver.ts";

export interface HostDeps {
  readonly db: Db;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly failed: (error: unknown) => void;
}

export interface Host {
  readonly id: string;
  readonly driver: Driver;
  /** Aborted when the loop is to end: what has not begun by then is left. */
  readonly signal: AbortSignal;
}

/**
 * A loop for each host, so that a machine that hangs holds only itself. `begin` makes the work of one, with whatever it
 * remembers from one pass to the next. What a pass throws is told when it changes, not again and again.
 */
export function eachHost(
  { drivers, failed }: Omit<HostDeps, "db">,
  intervalMs: number,
  begin: (host: Host) => () => Promise<number>,
): Loop {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loops = [...drivers].map(([id, driver]) => {
    const work = begin({ id, driver, signal });
    const tell = dropRepeated((error) => signal.aborted || failed(error));
    return startLoop(
      async () => {
        const waitMs = await work();
        tell([]);
        return waitMs;
      },
      intervalMs,
      (error) => tell([error]),
    );
  });
  const all = allLoops(loops);
  return {
    nudge: all.nudge,
    stop() {
      stopping.abort();
      return all.stop();
    },
  };
}

/** Hears all that failed in one round, and tells what had not failed in the same words in the round before. */
export function dropRepeated(tell: (error: unknown) => void): (errors: readonly unknown[]) => void {
  let before = new Set<string>();
  return (errors) => {
    const byWords = new Map(errors.map((error) => [String(error), error]));
    for (const [words, error] of byWords) if (!before.has(words)) tell(error);
    before = new Set(byWords.keys());
  };
}

/** Looks at once, for each host. */
const width = 8;

/** They share one iterator: each takes the next as soon as it is free, and none once the host's loop is to end. */
export async function forEachConcurrently<T>({ signal }: Host, items: readonly T[], work: (item: T) => Promise<void>) {
  const queue = items.values();
  const take = async () => {
    for (const item of queue) {
      if (signal.aborted) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: width }, take));
}

/** Of what is not there any more nothing is remembered. */
export function dropEnded(known: Map<string, unknown>, rows: readonly { readonly id: string }[]): void {
  const ids = new Set(rows.map(({ id }) => id));
  for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
}

/** It ended between the list and the look. */
export function hasEnded(error: unknown): boolean {
  return error instanceof DriverError && error.code === "refused";
}
