import { sql } from "kysely";
import { type Loop, startInterval } from "../../async/start-interval.ts";
import type { Db, RowOf, Sql } from "../../database/database.ts";
import { checkRemote, remoteFirewall } from "../../drivers/docker/check-remote.ts";
import { startFirewall } from "../../drivers/docker/firewall/start-firewall.ts";
import { openRemote, type RemoteDeps, type RemoteHost, type RemoteMachine } from "../../drivers/docker/open-remote.ts";
import { DriverError } from "../../drivers/driver.ts";
import type { HostCheck } from "./host-check.ts";
import { markReachable, markUnreachable, registerHost } from "./register-host.ts";

/** The hosts on other machines that an operator added, without the decommissioned ones. */
export async function remoteHosts(db: Sql): Promise<readonly RemoteHost[]> {
  const { rows } = await sql<RowOf<"hosts">>`
    select * from hosts where address is not null and removed_at is null and lost_at is null order by id`.execute(db);
  return rows.map(({ id, address, home_root, reach }) => ({
    id,
    address: address ?? "",
    homeRoot: home_root ?? "",
    reach: reach ?? "",
  }));
}

/** A driver for each. Nothing is connected yet; the verbs of an unreachable host fail. */
export async function openRemoteHosts(db: Db, deps: RemoteDeps): Promise<readonly RemoteMachine[]> {
  return await Promise.all((await remoteHosts(db)).map((host) => openRemote(host, deps)));
}

interface RemoteHostDeps extends RemoteDeps {
  readonly db: Db;
  readonly slots: number | undefined;
  readonly needsLiveRestore: boolean;
}

interface Started {
  readonly loops: readonly Loop[];
  readonly checks: ReadonlyMap<string, HostCheck>;
}

/** Registers each host when it is reachable, and checks its firewall every minute. */
export function startRemoteHosts(remotes: readonly RemoteMachine[], deps: RemoteHostDeps): Started {
  const registering = remotes.map((remote) => [remote.host.id, startRegistering(remote, deps)] as const);
  const firewalls = remotes.map((remote) => startFirewall(remoteFirewall(remote, deps), deps.log));
  return { loops: [...registering.map(([, loop]) => loop), ...firewalls], checks: new Map(registering) };
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
function startRegistering(remote: RemoteMachine, deps: RemoteHostDeps): Loop & HostCheck {
  const stopping = new AbortController();
  const { signal } = stopping;
  const log = deps.log.child({ hostId: remote.host.id });
  const registration = { wanted: 1, passed: 0 };
  const loop = startInterval({
    name: "host-registration",
    work: async () => {
      if (!isRegistered(registration) && !signal.aborted)
        await register(remote, { ...deps, log }, registration, signal).catch(async (error) => {
          if (signal.aborted) return;
          if (!(error instanceof DriverError)) throw error;
          log.warn({ event: "host.unreachable", err: error });
          await markUnreachable(deps.db, remote.host.id);
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
  remote: RemoteMachine,
  deps: RemoteHostDeps,
  registration: Registration,
  signal: AbortSignal,
): Promise<void> {
  const { id } = remote.host;
  const checked = registration.wanted;
  const { warnings } = await checkRemote(remote, deps, deps);
  if (signal.aborted) return;
  await registerHost(deps.db, id, remote.driver, deps.slots);
  registration.passed = checked;
  if (isRegistered(registration)) await markReachable(deps.db, id);
  for (const warning of warnings) deps.log.warn({ event: "host.unfit" }, warning);
}
