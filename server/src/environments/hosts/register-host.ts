import { sql } from "kysely";
import type { Db, Sql, Tx } from "../../database/database.ts";
import type { Capabilities, Driver } from "../../drivers/driver.ts";
import { unitLimits } from "../../drivers/unit-limits.ts";
import { takeable } from "../leases/gpu-leases.ts";
import { leaseRealNode } from "../leases/lease-real-node.ts";
import { nodesOfOthers } from "./nodes-of-others.ts";

/** The host of a driver that runs on this machine. */
export const thisMachine = "local";

/**
 * Writes what a host is and has, as its driver reports it now. A host without GPUs offers CPU slots (G37, G89): `slots`,
 * or as many as its memory is enough for, at most eight. Units that are no longer there are quarantined and never
 * deleted, because leases refer to them.
 */
export async function registerHost(db: Db, hostId: string, driver: Driver, slots?: number): Promise<void> {
  const capabilities = await driver.capabilities(true);
  await db.transaction().execute(async (tx) => {
    const { isolation, pause, newHomes: new_homes = null, cluster = null } = capabilities;
    const others = cluster === null ? new Map() : await nodesOfOthers(tx, { hostId, cluster });
    const host = { kind: driver.kind, isolation, pause, new_homes, cluster };
    await tx
      .insertInto("hosts")
      .values({ id: hostId, ...host })
      .onConflict((conflict) => conflict.column("id").doUpdateSet(host))
      .execute();
    const units = unitsOf(hostId, capabilities, slots ?? slotsOf(capabilities));
    const own = units.filter(({ node }) => !others.has(node));
    await writeUnits(tx, hostId, own, capabilities.room);
    await writeWithheld(tx, hostId, own, capabilities);
    for (const each of capabilities.placed ?? []) await leaseRealNode(tx, hostId, each);
  });
}

/** Nothing new is leased on an unreachable host. False when that was recorded before. */
export async function markUnreachable(db: Db, hostId: string): Promise<boolean> {
  const { rows } = await sql`
    update hosts set away_since = now() where id = ${hostId} and away_since is null returning id`.execute(db);
  return rows.length > 0;
}

export async function isUnreachable(db: Sql, hostId: string): Promise<boolean> {
  const host = await db.selectFrom("hosts").where("id", "=", hostId).select("away_since").executeTakeFirst();
  return host?.away_since != null;
}

export async function markReachable(db: Db, hostId: string): Promise<void> {
  await sql`
    update hosts set away_since = null
    where id = ${hostId} and away_since is not null and lost_at is null`.execute(db);
}

/** The host, locked against new leases on it; undefined when there is none. */
export async function hostForUpdate(tx: Tx, id: string) {
  return await tx.selectFrom("hosts").selectAll().where("id", "=", id).forNoKeyUpdate().executeTakeFirst();
}

interface Unit {
  readonly id: string;
  readonly kind: "gpu" | "cpu";
  readonly model: string;
  readonly memory_mb: number;
  /** Of a cluster; empty on a host that is one machine. */
  readonly node: string;
}

function unitsOf(hostId: string, { gpus }: Capabilities, slots: number): readonly Unit[] {
  if (gpus.length > 0)
    return gpus.map(({ id, model, memoryMb, node = "" }) => ({ id, kind: "gpu", model, memory_mb: memoryMb, node }));
  const slot = { kind: "cpu", model: "", memory_mb: 0, node: "" } as const;
  return Array.from({ length: slots }, (_, index) => ({ id: `${hostId}-slot-${index + 1}`, ...slot }));
}

function slotsOf({ memoryMb }: Capabilities): number {
  return memoryMb === undefined
    ? maxSlots
    : Math.min(maxSlots, Math.max(1, Math.floor(memoryMb / unitLimits.memoryMb)));
}

const maxSlots = 8;

async function writeUnits(tx: Tx, hostId: string, units: readonly Unit[], room: number | undefined): Promise<void> {
  // One statement: a cluster may have thousands.
  await sql`
    insert into gpus (id, host_id, kind, model, memory_mb, node)
    select id, ${hostId}, kind, model, memory_mb, node
    from json_to_recordset(${JSON.stringify(units)}) as unit (id text, kind text, model text, memory_mb int, node text)
    on conflict (id) do update set host_id = excluded.host_id, kind = excluded.kind, model = excluded.model,
      memory_mb = excluded.memory_mb, node = excluded.node`.execute(tx);
  const ids = await withinRoom(tx, units, room);
  // A unit that is there again is leased again; what an operator has quarantined stays so.
  const all = () => tx.updateTable("gpus").where("host_id", "=", hostId);
  const isHere = sql<boolean>`id = any(${ids})`;
  await all().set({ quarantined_at: null }).where("quarantine_reason", "=", "").where(isHere).execute();
  await all()
    .set({ quarantined_at: sql`now()` })
    .where("quarantined_at", "is", null)
    .where(sql<boolean>`not ${isHere}`)
    .execute();
}

/** What is leased stays offered; of the rest as many as there is room for, on as few nodes as possible (G200). */
async function withinRoom(tx: Tx, units: readonly Unit[], room: number | undefined): Promise<readonly string[]> {
  const ids = units.map(({ id }) => id);
  if (room === undefined || ids.length <= room) return ids;
  const { rows } = await sql<{ gpu_id: string }>`
    select gpu_id from gpu_leases where gpu_id = any(${ids}) and released_at is null and not ${takeable}`.execute(tx);
  const leased = new Set(rows.map(({ gpu_id }) => gpu_id));
  const free = ids.filter((id) => !leased.has(id));
  return [...leased, ...free.slice(0, Math.max(0, room - leased.size))];
}

/**
 * Why each unit that is not offered is not, for the operator (G212). A slot belongs to no node, so that any closed one may be
 * why. Nothing is wrong where there is only no room, a slot less by the settings, or a node less in the cluster.
 */
async function writeWithheld(
  tx: Tx,
  hostId: string,
  units: readonly Unit[],
  { nodes = [""], closedNodes = [] }: Capabilities,
): Promise<void> {
  const reasons = new Map(closedNodes.map(({ node, reason }) => [node, reason]));
  const all = closedNodes.map(({ reason }) => reason).join("; ");
  const reported = new Set(units.map(({ id }) => id));
  const reasonOf = ({ id, kind, node }: Pick<Unit, "id" | "kind" | "node">) => {
    if (kind === "cpu") return units[0]?.kind === "gpu" ? "" : all;
    if (reported.has(id) || !nodes.includes(node)) return "";
    return reasons.get(node) ?? `${node === "" ? hostId : `the node ${node}`} has it no more`;
  };
  const { rows } = await sql<Unit & { readonly offered: boolean; readonly withheld_reason: string }>`
    select id, kind, node, withheld_reason, quarantined_at is null as offered from gpus
    where host_id = ${hostId} and (quarantined_at is not null or withheld_reason <> '')`.execute(tx);
  const changed = rows
    .map((row) => ({ id: row.id, was: row.withheld_reason, reason: row.offered ? "" : reasonOf(row) }))
    .filter(({ was, reason }) => was !== reason);
  if (changed.length === 0) return;
  await sql`
    update gpus set withheld_reason = reason
    from json_to_recordset(${JSON.stringify(changed)}) as changed (id text, reason text)
    where gpus.id = changed.id`.execute(tx);
}
