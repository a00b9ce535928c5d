import { allLoops, type Loop, startInterval } from "../../async/start-interval.ts";
import type { Db } from "../../database/database.ts";
import { type Driver, DriverError } from "../../drivers/driver.ts";
import type { Logger } from "../../logging/create-logger.ts";

export interface HostDeps {
  readonly db: Db;
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly log: Logger;
  /** This worker's `Membership.id`; without it, it looks at every environment. */
  readonly workerId?: string | undefined;
}

export interface Host {
  readonly id: string;
  readonly driver: Driver;
  /** Aborted when the loop ends: work that has not begun by then is dropped. */
  readonly signal: AbortSignal;
}

/**
 * One loop for each host, so that a machine that hangs delays only itself. `begin` returns the work of one host, which
 * keeps its state from pass to pass. An error of a pass is logged with the host.
 */
export function eachHost(
  name: string,
  { drivers, log }: Omit<HostDeps, "db">,
  intervalMs: number,
  begin: (host: Host) => () => Promise<number>,
): Loop {
  const stopping = new AbortController();
  const { signal } = stopping;
  const loops = [...drivers].map(([id, driver]) => {
    const begun = begin({ id, driver, signal });
    const work = () =>
      begun().catch((error) => {
        if (!signal.aborted) throw error;
        return intervalMs;
      });
    return startInterval({ name, work, intervalMs, log: log.child({ hostId: id }) });
  });
  const all = allLoops(loops);
  return {
    trigger: all.trigger,
    stop() {
      stopping.abort();
      return all.stop();
    },
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

/** Drops the state of runs that have ended. */
export function dropEnded(known: Map<string, unknown>, rows: readonly { readonly id: string }[]): void {
  const ids = new Set(rows.map(({ id }) => id));
  for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
}

/** The run ended between the list and the check. */
export function hasEnded(error: unknown): boolean {
  return error instanceof DriverError && error.code === "refused";
}
