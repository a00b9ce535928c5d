import { type Loop, startLoop } from "../../async/start-interval.ts";
import type { Db, Sql } from "../../database/database.ts";
import { checkRemote, remoteFirewall } from "../../drivers/docker/check-remote.ts";
import { startFirewall } from "../../drivers/docker/firewall/start-firewall.ts";
import { openRemote, type RemoteDeps, type RemoteHost, type RemoteMachine } from "../../drivers/docker/open-remote.ts";
import { DriverError } from "../../drivers/driver.ts";
import { dropRepeated } from "./each-host.ts";
import type { HostCheck } from "./host-check.ts";
import { markReachable, markUnreachable, registerHost } from "./register-host.ts";

/** The hosts on other machines, as an operator added them, but for those that are lost. */
export async function remoteHosts(db: Sql): Promise<readonly RemoteHost[]> {
  const rows = await db
    .selectFrom("hosts")
    .select(["id", "address", "home_root", "reach"])
    .where("address", "is not", null)
    .where("removed_at", "is", null)
    .where("lost_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map(({ id, address, home_root, reach }) => ({
    id,
    address: address ?? "",
    homeRoot: home_root ?? "",
    reach: reach ?? "",
  }));
}

/** A driver for each; nothing is connected yet, and one that is away is told by its verbs. */
export async function openRemoteHosts(db: Db, parts: RemoteDeps): Promise<readonly RemoteMachine[]> {
  return await Promise.all((await remoteHosts(db)).map((host) => openRemote(host, parts)));
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

/** What a worker does beside renting on them: registers each when it answers, and looks at its wall every minute. */
export function startRemoteHosts(remotes: readonly RemoteMachine[], parts: RemoteHostDeps): Started {
  const registering = remotes.map((remote) => [remote.host.id, startRegistering(remote, parts)] as const);
  const walls = remotes.map((remote) => startFirewall(remoteFirewall(remote, parts), parts.failed));
  return { loops: [...registering.map(([, loop]) => loop), ...walls], checks: new Map(registering) };
}

const retryMs = 30_000;

/**
 * Nothing is sold on a host before it was found fit, at the start and whenever it has been away: another machine may have
 * come back, with other GPUs. Nobody waits for it, and what keeps it away is told once.
 */
function startRegistering(remote: RemoteMachine, parts: RemoteHostDeps): Loop & HostCheck {
  const { db, failed, slots } = parts;
  const { id } = remote.host;
  const stopping = new AbortController();
  const { signal } = stopping;
  const tell = dropRepeated((words) => signal.aborted || failed(`${id}: ${words}`));
  let [wanted, passed] = [1, 0];
  const isPassed = () => wanted === passed;

  async function register(): Promise<readonly string[]> {
    const now = wanted;
    const { warnings } = await checkRemote(remote, parts, parts);
    if (signal.aborted) return [];
    await registerHost(db, id, remote.driver, slots);
    passed = now;
    if (isPassed()) await markReachable(db, id);
    return warnings.map((words) => `WARNING: ${words}`);
  }

  const loop = startLoop(
    async () => {
      if (isPassed() || signal.aborted) return retryMs;
      try {
        tell(await register());
      } catch (error) {
        if (signal.aborted) return retryMs;
        if (!(error instanceof DriverError)) throw error;
        tell([error.message]);
        await markUnreachable(db, id);
      }
      return retryMs;
    },
    retryMs,
    failed,
  );
  return {
    nudge: loop.nudge,
    isPassed,
    repeat() {
      wanted += 1;
      loop.nudge();
    },
    // The look may be fetching an image, for as long as that takes: from here on it changes nothing.
    async stop() {
      stopping.abort();
      void loop.stop();
    },
  };
}
