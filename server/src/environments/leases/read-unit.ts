import type { Db } from "../../database/database.ts";

/** What the hosts have to rent; "gpu" where there is none yet (G307). */
export async function readUnit(db: Db): Promise<"gpu" | "cpu" | "both"> {
  const [first, second] = await db
    .selectFrom("gpus")
    .innerJoin("hosts", "hosts.id", "gpus.host_id")
    .where("hosts.removed_at", "is", null)
    .select("gpus.kind")
    .distinct()
    .execute();
  return second ? "both" : (first?.kind ?? "gpu");
}
