import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { expectedNodePrefix } from "../../drivers/expected-node.ts";
import { type Place, takeable } from "../leases/gpu-leases.ts";
import type { LeasedMove } from "./move-queue.ts";

/**
 * The host that a home moves to, and its node where it is a cluster: an open one that has as many GPUs on one machine as its
 * environment and can run its type, rather with as many of them free, of the same model, and with fewer files for its GPUs
 * (G208). A stopped monthly plan keeps its GPUs (G24), so it needs free ones. After a failure another host comes first. Nodes
 * that are only expected come last, and any node may have the files then. Undefined where there is none.
 */
export async function chooseHost(
  db: Db,
  { id, from_host, from_home, to_host, attempts }: LeasedMove,
  hostIds: readonly string[],
): Promise<Place | undefined> {
  const { rows } = await sql<Place>`
    with moved as (
      select id, gpu_count, container_type, exists (
        select from gpu_leases where holder_kind = 'environment' and holder_id = e.id and released_at is null and e.home = ${from_home}) as leases
      from environments e
      where (home = ${from_home} and host_id = ${from_host}) or id = (select left_by from homes where homes.id = ${id}) order by requested_at desc, id limit 1),
    offers as (
      select hosts.id, g.node, count(g.id) as units,
        count(g.id) filter (where not exists (
          select from gpu_leases where gpu_id = g.id and released_at is null and not ${takeable})) as free,
        (select count(*) from homes where host_id = hosts.id and (g.node = '' or node = g.node))::float8 / greatest(1, count(g.id)) as homes,
        coalesce(bool_or((g.kind, g.model) in (select kind, model from gpus where host_id = ${from_host})), false) as same
      from hosts left join gpus g on g.host_id = hosts.id and g.quarantined_at is null
      where is_open and hosts.id <> ${from_host} and hosts.id = any(${[...hostIds]}) group by hosts.id, g.node)
    select o.id as "hostId", case when o.node <> '' and not is_expected then o.node end as node
    from offers o cross join lateral (select starts_with(o.node, ${expectedNodePrefix}) as is_expected) e cross join moved where units >= gpu_count and (free >= gpu_count or not leases)
      and not exists (select from host_images i
        where i.host_id = o.id and i.container_type = moved.container_type and i.state = 'unavailable')
    order by (${attempts} > 0 and o.id = ${to_host}::text), is_expected, free >= gpu_count desc, same desc, homes, free desc, o.id, o.node limit 1`.execute(
    db,
  );
  return rows[0];
}
