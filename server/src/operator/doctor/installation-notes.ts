import { availableParallelism, totalmem } from "node:os";
import type { Db } from "../../database/database.ts";
import { unitLimits } from "../../drivers/unit-limits.ts";
import { thisMachine } from "../../environments/hosts/register-host.ts";
import type { ProcessSettings } from "../process-registry.ts";

const gib = 1024 ** 3;

interface Machine {
  readonly memoryBytes: number;
  readonly cores: number;
}

/**
 * What an operator should decide about a new installation: no fault, so no finding. The defaults are the worker's, whatever
 * the shell has in which doctor is typed. `isHere`: the worker's machine is this one.
 */
export async function installationNotes(
  db: Db,
  { defaults = [] }: Pick<ProcessSettings, "defaults">,
  isHere: boolean,
  machine: Machine = { memoryBytes: totalmem(), cores: availableParallelism() },
): Promise<readonly string[]> {
  return [...defaults, ...(isHere ? await oversoldSlots(db, machine) : [])];
}

/** CPU slots of this machine that may use more than it has, all at once. One slot there is always. */
async function oversoldSlots(db: Db, { memoryBytes, cores }: Machine): Promise<readonly string[]> {
  const slots = (
    await db
      .selectFrom("gpus")
      .innerJoin("hosts", "hosts.id", "gpus.host_id")
      .select("gpus.id")
      .where("host_id", "=", thisMachine)
      .where("hosts.kind", "in", ["docker", "process"])
      .where("gpus.kind", "=", "cpu")
      .where("quarantined_at", "is", null)
      .execute()
  ).length;
  const { memoryMb, cpus } = unitLimits;
  const sold = (slots * memoryMb) / 1024;
  const has = Math.round(memoryBytes / gib);
  if (slots < 2 || sold <= has) return [];
  return [
    `${slots} CPU slots may use ${sold} GiB of memory and ${slots * cpus} cores together, and this machine has ${has} GiB and ${cores}: when all are busy they are slow, or end for lack of memory. SLOTS sets how many are offered.`,
  ];
}
