import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { DriverError } from "../../drivers/driver.ts";
import type { Environment } from "../environment.ts";
import { leaseGpus, type Place, releaseLeases } from "./gpu-leases.ts";

/**
 * Before a start: GPUs of a node that the cluster no longer offers are given back for others of it (G181). Throws `lost`
 * where the files are on that node, and `no_gpu` where no other node has enough.
 */
export async function moveLeases(db: Db, row: Environment, placeOf: () => Promise<Place>): Promise<void> {
  const { id, gpu_count: gpuCount, subdomain } = row;
  if (!(await isLeaseGone(db, id))) return;
  const place = await placeOf();
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql`
      select from environments where id = ${id} and lease_token is not distinct from ${row.lease_token}
      for no key update`.execute(tx);
    if (rows.length === 0) return;
    await releaseLeases(tx, "environment", id);
    if (await leaseGpus(tx, { holderKind: "environment", holderId: id, gpuCount, place, holdUntil: null })) return;
    if (place.node !== null)
      throw new DriverError("lost", `The files of ${subdomain} are on ${place.node}, which takes no runs now`);
    throw new DriverError("no_gpu", `No machine of the cluster has ${gpuCount} free GPUs for ${subdomain}`);
  });
}

/** Quarantined without a reason: not found when the cluster was read last. */
async function isLeaseGone(db: Db, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from gpu_leases l join gpus g on g.id = l.gpu_id
    where l.holder_kind = 'environment' and l.holder_id = ${id} and l.released_at is null
      and g.node <> '' and g.quarantined_at is not null and g.quarantine_reason = '' limit 1`.execute(db);
  return rows.length > 0;
}
