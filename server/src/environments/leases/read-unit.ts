import { sql } from "kysely";
import type { Sql } from "../../database/database.ts";

export type Unit = "gpu" | "cpu" | "both";

/** What the hosts have to rent, as a value in a query; "gpu" where there is none yet (G307). */
export const unitOfHosts = sql<Unit>`(
  select case count(distinct gpus.kind) when 2 then 'both' when 1 then min(gpus.kind) else 'gpu' end
  from gpus join hosts on hosts.id = gpus.host_id where hosts.removed_at is null)`;

export async function readUnit(db: Sql): Promise<Unit> {
  const { unit } = await db.selectNoFrom(unitOfHosts.as("unit")).executeTakeFirstOrThrow();
  return unit;
}

/** One of what is rented, for a sentence: where there are both, all are called GPUs. */
export function wordOf(unit: Unit): "GPU" | "slot" {
  return unit === "cpu" ? "slot" : "GPU";
}

export async function unitWord(db: Sql): Promise<"GPU" | "slot"> {
  return wordOf(await readUnit(db));
}
