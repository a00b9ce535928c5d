import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { takeable } from "../leases/gpu-leases.ts";
import type { LeasedMove } from "./move-queue.ts";

/**
 * The host that a home moves to: an open one that has as many GPUs on one machine as its environment and can run its type, rather with
 * as many of them free and of the same model. A stopped monthly plan keeps its GPUs (G24), so it needs free ones. After
 * a failure another host comes first. Undefined where there is none.
 */
export async function chooseHost(
  db: Db,
  { id, from_host, from_home, to_host, attempts }: LeasedMove,
  hostIds: readonly string[],
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with moved as (
      select id, gpu_count, container_type, exists (
        select from gpu_leases where holder_kind = 'environment' and holder_id = e.id and released_at is null and e.home = ${from_home}) as leases
      from environments e
      where (home = ${from_home} and host_id = ${from_host}) or id = (select left_by from homes where homes.id = ${id}) order by requested_at desc, id limit 1),
    offers as (
      select hosts.id, g.node, count(g.id) as units,
        count(g.id) filter (where not exists (
          select from gpu_leases where gpu_id = g.id and released_at is null and not ${takeable})) as free,
        coalesce(bool_or((g.kind, g.model) in (select kind, model from gpus where host_id = ${from_host})), false) as same
      from hosts left join gpus g on g.host_id = hosts.id and g.quarantined_at is null
      where is_open and hosts.id <> ${from_host} and hosts.id = any(${[...hostIds]}) group by hosts.id, g.node)
    select o.id from offers o cross join moved where units >= gpu_count and (free >= gpu_count or not leases)
      and not exists (select from host_images i
        where i.host_id = o.id and i.container_type = moved.container_type and i.state = 'unavailable')
    order by (${attempts} > 0 and o.id = ${to_host}::text), free >= gpu_count desc, same desc, free desc, o.id, o.node limit 1`.execute(
    db,
  );
  return rows[0]?.id;
}
