import type { GpuModel } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** The GPUs of all hosts by model and memory, as the hosts report them (G128); empty where there is none. */
export async function readGpuModels(db: Db): Promise<readonly GpuModel[]> {
  const { rows } = await sql<GpuModel>`
    select distinct model, round(memory_mb / 1024.0)::int as "memoryGb"
    from gpus join hosts on hosts.id = host_id
    where gpus.kind = 'gpu' and model <> '' and memory_mb > 0 and quarantined_at is null and removed_at is null
    order by "memoryGb", model`.execute(db);
  return rows;
}
