import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import { expectedNodePrefix } from "../../drivers/expected-node.ts";
import { runId } from "../run-id.ts";

interface Placed {
  /** The run's, by its driver. */
  readonly id: string;
  readonly expected: string;
  readonly node: string;
}

/**
 * The expected node of an environment's leases has joined (G201): they become leases of its GPUs, in the transaction that
 * offers them, so that nobody else gets them. Who leased others of the same expected node, and has no run yet, goes along
 * where there is room. The host is locked.
 */
export async function leaseRealNode(tx: Tx, hostId: string, { id, expected, node }: Placed): Promise<void> {
  const own = await sql<{ id: string }>`select id from environments where ${runId} = ${id}`.execute(tx);
  for (const environment of own.rows) await moveHolder(tx, hostId, environment.id, node);
  const { rows } = await sql<{ holder_id: string }>`
    select distinct holder_id from gpu_leases l join gpus g on g.id = l.gpu_id
    where g.host_id = ${hostId} and g.node = ${expected} and g.quarantined_at is not null and l.released_at is null
    order by holder_id`.execute(tx);
  for (const { holder_id } of rows) await moveHolder(tx, hostId, holder_id, node);
}

/** All of the holder's leases of expected nodes, or none where the node has too few free GPUs. */
async function moveHolder(tx: Tx, hostId: string, holderId: string, node: string): Promise<void> {
  await sql`
    with own as (
      select l.id, row_number() over (order by length(gpu_id), gpu_id) as n from gpu_leases l join gpus g on g.id = l.gpu_id
      where l.holder_id = ${holderId} and l.released_at is null and g.host_id = ${hostId} and starts_with(g.node, ${expectedNodePrefix})),
    free as (
      select id as gpu_id, row_number() over (order by length(id), id) as n from gpus g
      where host_id = ${hostId} and node = ${node} and quarantined_at is null
        and not exists (select from gpu_leases where gpu_id = g.id and released_at is null))
    update gpu_leases l set gpu_id = free.gpu_id from own join free using (n)
    where l.id = own.id and (select count(*) from own) <= (select count(*) from free)`.execute(tx);
}
