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
  /** Aborted when the loop ends: work that has not begun by then is dropped. */
  readonly signal: AbortSignal;
}

/**
 * One loop for each host, so that a machine that hangs delays only itself. `begin` returns the work of one host, which
 * keeps its state from pass to pass. An error of a pass is reported when it differs from the one before.
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
    const report = dropRepeated((error) => signal.aborted || failed(error));
    return startLoop(
      async () => {
        const waitMs = await work();
        report([]);
        return waitMs;
      },
      intervalMs,
      (error) => report([error]),
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

/** Takes the errors of one pass and reports those that the pass before did not have. */
export function dropRepeated(report: (error: unknown) => void): (errors: readonly unknown[]) => void {
  let before = new Set<string>();
  return (errors) => {
    const byText = new Map(errors.map((error) => [String(error), error]));
    for (const [text, error] of byText) if (!before.has(text)) report(error);
    before = new Set(byText.keys());
  };
}

/** Items worked on at the same time on one host. */
const concurrency = 8;

/** The workers share one iterator. None takes another item once the loop of the host ends. */
export async function forEachConcurrently<T>({ signal }: Host, items: readonly T[], work: (item: T) => Promise<void>) {
  const queue = items.values();
  const worker = async () => {
    for (const item of queue) {
      if (signal.aborted) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Drops what is remembered of runs that have ended. */
export function dropEnded(known: Map<string, unknown>, rows: readonly { readonly id: string }[]): void {
  const ids = new Set(rows.map(({ id }) => id));
  for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
}

/** The run ended between the list and the check. */
export function hasEnded(error: unknown): boolean {
  return error instanceof DriverError && error.code === "refused";
}
