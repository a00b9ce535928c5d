import type { Loop } from "../../async/start-interval.ts";
import { DriverError } from "../../drivers/driver.ts";
import { eachHost, type HostDeps } from "./each-host.ts";
import type { HostCheck } from "./host-check.ts";
import { registerHost } from "./register-host.ts";

const usualMs = 30_000;

export interface ReadingDeps extends HostDeps {
  readonly slots: number | undefined;
  readonly intervalMs?: number;
  /** Of added hosts: nothing is offered before they pass. */
  readonly checks?: ReadonlyMap<string, HostCheck> | undefined;
}

/**
 * Reads every half minute what a cluster offers: its nodes come and go, are cordoned and drained while the server runs
 * (G180). Other hosts are read when they are checked.
 */
export function startReadingCapacity({ drivers, slots, checks, ...deps }: ReadingDeps): Loop {
  const intervalMs = deps.intervalMs ?? usualMs;
  const clusters = new Map([...drivers].filter(([, { homeNode }]) => homeNode !== undefined));
  return eachHost("capacity", { ...deps, drivers: clusters }, intervalMs, ({ id, driver }) => async () => {
    if (checks?.get(id)?.isPassed() === false) return intervalMs;
    await registerHost(deps.db, id, driver, slots).catch((error) => {
      // The inventory reports a cluster that does not answer.
      if (!(error instanceof DriverError)) throw error;
    });
    return intervalMs;
  });
}
