import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { Db } from "../../database/database.ts";
import { type Driver, DriverError } from "../../drivers/driver.ts";
import type { Logger } from "../../logging/create-logger.ts";
import type { HostCheck } from "./host-check.ts";
import { markReachable, markUnreachable, registerHost } from "./register-host.ts";

/** A host that an operator added. */
export interface AddedHost {
  readonly host: { readonly id: string };
  readonly driver: Driver;
  /** All that it needs, with sentences for the operator. Throws a DriverError when it cannot be used. */
  check(): Promise<{ readonly warnings: readonly string[] }>;
}

export interface RegisteringDeps {
  readonly db: Db;
  readonly slots: number | undefined;
  readonly log: Logger;
}

const retryMs = 30_000;

/** How often a host had to pass its check, and which of these it has passed. */
interface Registration {
  wanted: number;
  passed: number;
}

const isRegistered = ({ wanted, passed }: Registration) => wanted === passed;

/**
 * Nothing is leased on a host before it passes its check, at the start and each time it has been unreachable: another
 * machine with other GPUs may have come back. A failure of the check is logged.
 */
export function startRegistering(added: AddedHost, deps: RegisteringDeps): Loop & HostCheck {
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = deps.log.child({ hostId: added.host.id });
  const registration = { wanted: 1, passed: 0 };
  const loop = startInterval({
    name: "host-registration",
    work: async () => {
      if (!isRegistered(registration) && !signal.aborted)
        await register(added, { ...deps, log }, registration, signal).catch(async (error) => {
          if (signal.aborted) return;
          if (!(error instanceof DriverError)) throw error;
          log.warn({ event: "host.unreachable", err: error });
          await markUnreachable(deps.db, added.host.id);
        });
      return retryMs;
    },
    intervalMs: retryMs,
    log,
  });
  return {
    trigger: loop.trigger,
    isPassed: () => isRegistered(registration),
    repeat() {
      registration.wanted += 1;
      loop.trigger();
    },
    // Does not wait for a check, which may pull an image for minutes; its result is dropped.
    async stop() {
      stopping.abort();
      void loop.stop();
    },
  };
}

async function register(
  { host: { id }, driver, check }: AddedHost,
  deps: RegisteringDeps,
  registration: Registration,
  signal: AbortSignal,
): Promise<void> {
  const checked = registration.wanted;
  const { warnings } = await check();
  if (signal.aborted) return;
  await registerHost(deps.db, id, driver, deps.slots);
  registration.passed = checked;
  if (isRegistered(registration)) await markReachable(deps.db, id);
  for (const warning of warnings) deps.log.warn({ event: "host.unfit" }, warning);
}
