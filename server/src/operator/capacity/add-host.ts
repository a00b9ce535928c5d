import { plural } from "@berth/contract";
import { sql } from "kysely";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db, Tx } from "../../database/database.ts";
import type { RemoteHost } from "../../drivers/docker/open-remote.ts";
import { endAllOnHost } from "../../environments/hosts/decommissioned-hosts.ts";
import { hostForUpdate, thisMachine } from "../../environments/hosts/register-host.ts";
import type { Announce } from "../../environments/notice.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import { CapacityRefused } from "./capacity-refused.ts";

/**
 * Adds a host on another machine, or restores a removed one. The next start of the server registers its GPUs; until then
 * nothing is sold on it. Throws when the id is another host's, or when the folder of its homes would change.
 */
export async function addHost(db: Db, { id, address, homeRoot, reach }: RemoteHost, author: Author): Promise<void> {
  checkHostName(id);
  await db.transaction().execute(async (tx) => {
    const host = await hostForUpdate(tx, id);
    checkAddable(id, host);
    if (host && !host.removed_at && host.home_root !== homeRoot)
      throw new CapacityRefused(
        `${id} has its homes in ${host.home_root ?? host.address}: what is kept there would be lost`,
      );
    const settings = { kind: "docker", address, home_root: homeRoot, reach, options: null, cluster: null } as const;
    await tx
      .insertInto("hosts")
      .values({ id, isolation: "container", ...settings })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ ...settings, ...restored(host) }))
      .execute();
    await recordAct(tx, author, "host.add", id, { address, home_root: homeRoot, reach });
  });
}

type HostRow = Awaited<ReturnType<typeof hostForUpdate>>;

/** Throws for this machine, and for a decommissioned host that was not removed. */
export function checkAddable(id: string, host: HostRow): void {
  if (host && !host.address) throw new CapacityRefused(`${id} is this machine`);
  if (host?.lost_at && !host.removed_at)
    throw new CapacityRefused(`${id} is lost: remove it first, when what was on it has ended`);
}

/** What a removed host is again. */
export function restored(host: HostRow) {
  return host?.removed_at ? { removed_at: null, drained_at: null, away_since: null, lost_at: null } : {};
}

/** Throws when the name is invalid or this machine's own, which is reserved before its first start too. */
export function checkHostName(id: string): void {
  if (!/^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$/.test(id))
    throw new CapacityRefused(`${id} is not a host name: up to 32 lower-case letters, digits and dashes`);
  if (id === thisMachine) throw new CapacityRefused(`${id} is this machine`);
}

/**
 * Decommissions a host whose machine never comes back: its environments end. Returns how many owners were notified;
 * undefined when it was decommissioned before. Throws for a host that answers, because that one can be drained.
 */
export async function loseHost(db: Db, announce: Announce, id: string, author: Author): Promise<number | undefined> {
  return await db.transaction().execute(async (tx) => {
    const host = await remoteForUpdate(tx, id, "lost");
    if (host.lost_at) return undefined;
    if (!host.away_since) throw new CapacityRefused(`${id} answered at its last check: it can be drained`);
    const lostAt = host.away_since;
    await sql`update hosts set lost_at = ${lostAt}, drained_at = coalesce(drained_at, now()) where id = ${id}`.execute(
      tx,
    );
    const owners = await endAllOnHost(tx, announce, id, lostAt);
    await recordAct(tx, author, "host.lose", id, { owners });
    return owners;
  });
}

/** Removes a host. Throws while it has environments, leases or kept files. */
export async function removeHost(db: Db, id: string, author: Author): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await remoteForUpdate(tx, id, "removed");
    const { rows } = await sql<{ environments: number; leases: number; homes: number; slots: boolean }>`
      select (select count(*) from environments where host_id = ${id} and status <> 'terminated')::int as environments,
        (select count(*) from gpu_leases l join gpus g on g.id = l.gpu_id
          where g.host_id = ${id} and l.released_at is null)::int as leases,
        (select count(*) from homes where host_id = ${id})::int as homes,
        exists (select from gpus where host_id = ${id} and kind = 'cpu') as slots`.execute(tx);
    const { environments = 0, leases = 0, homes = 0, slots = false } = rows[0] ?? {};
    if (environments + leases + homes > 0)
      throw new CapacityRefused(
        `${id} still has ${plural(environments, "environment")}, ${plural(leases, slots ? "CPU slot" : "GPU")} leased and ${plural(homes, "kept home")}: drain it and wait until they are over`,
      );
    await sql`update hosts set removed_at = now(), drained_at = coalesce(drained_at, now()) where id = ${id}`.execute(
      tx,
    );
    await sql`update gpus set quarantined_at = now() where host_id = ${id} and quarantined_at is null`.execute(tx);
    await recordAct(tx, author, "host.remove", id);
  });
}

async function remoteForUpdate(tx: Tx, id: string, verb: string) {
  const host = await hostForUpdate(tx, id);
  if (!host || host.removed_at)
    throw new CapacityRefused(`There is no host ${id}. ${operatorCommand("hosts list")} names them.`);
  if (!host.address) throw new CapacityRefused(`${id} is this machine: it can be drained, not ${verb}`);
  return host;
}
