import { setTimeout as wait } from "node:timers/promises";
import type { Db } from "../../database/database.ts";
import type { Driver } from "../../drivers/driver.ts";
import type { Environment } from "../environment.ts";
import { leasesOf } from "../leases/gpu-leases.ts";

/** A killed program may still be giving its memory back. */
const defaultMs = 10_000;
const pollMs = 500;

/**
 * The leftover processes of an ended run, as text by GPU id; empty where its GPUs are clean or it has only CPU slots. A
 * GPU that cannot be checked is not clean either.
 */
export async function leftoverProcesses(
  { db, leftoverMs = defaultMs }: { readonly db: Db; readonly leftoverMs?: number },
  driver: Driver,
  row: Environment,
): Promise<ReadonlyMap<string, string>> {
  const leases = await leasesOf(db, "environment", row.id);
  const ids = leases.filter(({ kind }) => kind === "gpu").map(({ gpuId }) => gpuId);
  if (ids.length === 0) return new Map();
  const until = performance.now() + leftoverMs;
  for (;;) {
    const leftovers = await driver.gpuLeftovers(ids).catch((error) => new Map(ids.map((id) => [id, String(error)])));
    if (leftovers.size === 0 || performance.now() >= until) return leftovers;
    await wait(pollMs);
  }
}
