import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";

/**
 * The nodes of a cluster that other hosts of it offer, or have leased, by name: no two hosts sell one node (G207). Locks all
 * hosts of the cluster.
 */
export async function nodesOfOthers(
  tx: Tx,
  { hostId, cluster }: { readonly hostId: string; readonly cluster: string },
): Promise<ReadonlyMap<string, string>> {
  await sql`select 1 from hosts where cluster = ${cluster} or id = ${hostId} order by id for no key update`.execute(tx);
  const { rows } = await sql<{ node: string; host_id: string }>`
    select distinct node, host_id from gpus g join hosts h on h.id = g.host_id
    where h.cluster = ${cluster} and h.id <> ${hostId} and h.removed_at is null and node <> '' and (quarantined_at is null
      or exists (select from gpu_leases where gpu_id = g.id and released_at is null))`.execute(tx);
  return new Map(rows.map(({ node, host_id }) => [node, host_id]));
}
