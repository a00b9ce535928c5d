import { type Capacity, type Catalogue, pricesAt } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { freeTimes } from "./free-times.ts";

/** What a renter reads of a type that no host has. What prepares it is the operator's affair (G125). */
export const notOfferedYet = "Not offered here yet";

/** What can be launched now on one host, and when more frees up (G35, G39). */
export async function readCapacity(db: Db, catalogue: Catalogue): Promise<Omit<Capacity, "status" | "launch">> {
  const [times, kind, types] = await Promise.all([freeTimes(db), kindOf(db), typesOf(db, catalogue)]);
  const free = times.filter(({ freeNow }) => freeNow).length;
  const counts = pricesAt(catalogue, new Date()).rows.map(({ gpus: gpu_count }) => {
    const time = times.find(({ gpuCount }) => gpuCount === gpu_count);
    const isFree = time?.freeNow ?? false;
    return { gpu_count, free: isFree, next_free_at: isFree ? null : (time?.freeAt?.toISOString() ?? null) };
  });
  return { kind, total: times.length, free, counts, types };
}

async function kindOf(db: Db): Promise<"gpu" | "cpu"> {
  const { rows } = await sql`select from gpus where kind = 'gpu' and quarantined_at is null limit 1`.execute(db);
  return rows.length > 0 ? "gpu" : "cpu";
}

/** The best state of each type over the hosts: one host that has it is enough. */
async function typesOf(db: Db, catalogue: Catalogue): Promise<Capacity["types"]> {
  const { rows } = await sql<Capacity["types"][number]>`
    select distinct on (container_type) container_type as type, state, percent,
      case when state = 'unavailable' then ${notOfferedYet} else message end as message
    from host_images join hosts on hosts.id = host_id where is_open
    order by container_type, array_position(array['ready', 'preparing', 'unavailable'], state),
      percent desc nulls last`.execute(db);
  return catalogue.types.map(
    ({ id: type }) => rows.find((row) => row.type === type) ?? { type, state: "preparing", percent: null, message: "" },
  );
}
