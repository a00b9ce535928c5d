import { sql } from "kysely";
import type { Loop } from "../../async/start-interval.ts";
import type { Db, RowOf, Sql } from "../../database/database.ts";
import type { RemoteDeps, RemoteHost, RemoteMachine } from "../../drivers/docker/open-remote.ts";
import type { ClusterMachine } from "../../drivers/kubernetes/open-added-cluster.ts";
import type { HostCheck } from "./host-check.ts";
import { startRegistering } from "./start-registering.ts";

/** The hosts with a Docker Engine that an operator added, without the decommissioned ones. */
export async function remoteHosts(db: Sql): Promise<readonly RemoteHost[]> {
  const { rows } = await sql<RowOf<"hosts">>`
    select * from hosts where home_root is not null and removed_at is null and lost_at is null order by id`.execute(db);
  return rows.map(({ id, address, home_root, reach }) => ({
    id,
    address: address ?? "",
    homeRoot: home_root ?? "",
    reach: reach ?? "",
  }));
}

/** A driver for each; without hosts it is not loaded. Nothing is connected yet; the verbs of an unreachable host fail. */
export async function openRemoteHosts(db: Db, deps: RemoteDeps): Promise<readonly RemoteMachine[]> {
  const hosts = await remoteHosts(db);
  if (hosts.length === 0) return [];
  const { openRemote } = await import("../../drivers/docker/open-remote.ts");
  return await Promise.all(hosts.map((host) => openRemote(host, deps)));
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

/** Registers each host when it is reachable, and checks the firewall of Docker hosts every minute. */
export async function startRemoteHosts(
  remotes: readonly RemoteMachine[],
  clusters: readonly ClusterMachine[],
  deps: RemoteHostDeps,
): Promise<Started> {
  const { checked, firewalls } = await startDockerHosts(remotes, deps);
  const registering = [...checked, ...clusters].map((each) => [each.host.id, startRegistering(each, deps)] as const);
  return { loops: [...registering.map(([, loop]) => loop), ...firewalls], checks: new Map(registering) };
}

async function startDockerHosts(remotes: readonly RemoteMachine[], deps: RemoteHostDeps) {
  if (remotes.length === 0) return { checked: [], firewalls: [] };
  const { checkRemote, remoteFirewall } = await import("../../drivers/docker/check-remote.ts");
  const { startFirewall } = await import("../../drivers/docker/firewall/start-firewall.ts");
  return {
    checked: remotes.map((remote) => ({ ...remote, check: () => checkRemote(remote, deps, deps) })),
    firewalls: remotes.map((remote) => startFirewall(remoteFirewall(remote, deps), deps.log)),
  };
}
