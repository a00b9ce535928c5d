import { sql } from "kysely";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { hostForUpdate } from "../../environments/hosts/register-host.ts";
import type { Announce } from "../../environments/notice.ts";
import { formatInstant } from "../../text/format-instant.ts";
import { operatorCommand } from "../../text/operator-command.ts";
import { CapacityRefused } from "./capacity-refused.ts";

interface HostRow {
  readonly id: string;
  readonly kind: string;
  readonly address: string | null;
  readonly drained_at: Date | null;
  readonly away_since: Date | null;
  readonly lost_at: Date | null;
  readonly gpus: number;
  readonly leased: number;
  readonly quarantined: number;
  readonly environments: number;
  /** Folders of files that lie on it, of ended environments too. */
  readonly homes: number;
}

/** Returns every host: what it has, and what is in use. */
export async function readHosts(db: Db): Promise<readonly HostRow[]> {
  const { rows } = await sql<HostRow>`
    select h.id, h.kind, h.address, h.drained_at, h.away_since, h.lost_at, count(g.id) as gpus, count(l.id) as leased, count(g.quarantined_at) as quarantined,
      (select count(*) from environments e where e.host_id = h.id and e.status <> 'terminated') as environments,
      (select count(*) from homes where host_id = h.id) as homes
    from hosts h left join gpus g on g.host_id = h.id
    left join gpu_leases l on l.gpu_id = g.id and l.released_at is null and l.holder_kind <> 'pool'
    where h.removed_at is null group by h.id order by h.id`.execute(db);
  return rows;
}

export function hostText({ id, kind, address, gpus, leased, quarantined, environments, ...since }: HostRow): string {
  const { drained_at, away_since, lost_at } = since;
  const parts = [`${gpus} GPUs`, `${leased} leased`, `${quarantined} quarantined`, `${environments} environments`];
  if (drained_at && !lost_at) parts.push(`draining since ${formatInstant(drained_at)} UTC`);
  if (lost_at) parts.push(`lost since ${formatInstant(lost_at)} UTC`);
  else if (away_since) parts.push(`not answering since ${formatInstant(away_since)} UTC`);
  return `${id} ${kind}${address ? ` at ${address}` : ""}: ${parts.join(", ")}`;
}

/**
 * Drains a host: nothing new is leased on it, not to the queue either; existing leases go on. Notifies the owners once and
 * returns how many; undefined when it drains already. Throws for an unknown host.
 */
export async function drainHost(
  db: Db,
  announce: Announce,
  hostId: string,
  author: Author,
): Promise<number | undefined> {
  return await db.transaction().execute(async (tx) => {
    const host = await hostForUpdate(tx, hostId);
    if (!host) throw noHost(hostId);
    if (host.drained_at) return undefined;
    const { drained_at } = await tx
      .updateTable("hosts")
      .set({ drained_at: sql<Date>`now()` })
      .where("id", "=", hostId)
      .returning("drained_at")
      .executeTakeFirstOrThrow();
    const { rows: owners } = await sql<{ user_id: string; names: string }>`
      select user_id, string_agg(subdomain, ', ' order by subdomain) as names from environments
      where host_id = ${hostId} and status <> 'terminated' and desired <> 'terminated' group by user_id order by user_id`.execute(
      tx,
    );
    for (const { user_id: userId, names } of owners)
      await announce(tx, {
        userId,
        cause: `drain:${hostId}:${drained_at?.toISOString()}`,
        title: "A machine of yours takes no new environments",
        body: `It is being taken out of service: ${names}. What runs goes on until its time is over, but what is stopped cannot be started there. Download the files that you need elsewhere.`,
        link: "/environments",
      });
    await recordAct(tx, author, "host.drain", hostId, { owners: owners.length });
    return owners.length;
  });
}

/** Returns false when it did not drain. Throws for an unknown or decommissioned host. */
export async function undrainHost(db: Db, hostId: string, author: Author): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    const host = await hostForUpdate(tx, hostId);
    if (!host || host.removed_at) throw noHost(hostId);
    if (host.lost_at) throw new CapacityRefused(`${hostId} is lost`);
    if (!host.drained_at) return false;
    await tx.updateTable("hosts").set({ drained_at: null }).where("id", "=", hostId).execute();
    await recordAct(tx, author, "host.undrain", hostId);
    return true;
  });
}

const noHost = (id: string) =>
  new CapacityRefused(`There is no host ${id}. ${operatorCommand("hosts list")} names them.`);
