import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

type Unit = "gpu" | "cpu" | "both";

/** What the hosts have to rent, as a value in a query; "gpu" where there is none yet (G307). */
export const unitOfHosts = sql<Unit>`(
  select case count(distinct gpus.kind) when 2 then 'both' when 1 then min(gpus.kind) else 'gpu' end
  from gpus join hosts on hosts.id = gpus.host_id where hosts.removed_at is null)`;

export async function readUnit(db: Db): Promise<Unit> {
  const { unit } = await db.selectNoFrom(unitOfHosts.as("unit")).executeTakeFirstOrThrow();
  return unit;
}
