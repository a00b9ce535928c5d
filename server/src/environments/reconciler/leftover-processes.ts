import { setTimeout as wait } from "node:timers/promises";
import { planOf, type Status } from "@berth/contract";
import type { Db } from "../../database/database.ts";
import type { Driver } from "../../drivers/driver.ts";
import { leasesOf } from "../leases/gpu-leases.ts";
import type { Claimed } from "./work-lease.ts";

/** A program that was killed may still be giving its memory back. */
const timeoutMs = 10_000;
const againMs = 500;

const clean: ReadonlyMap<string, string> = new Map();

/**
 * What a run that is gone has left on the GPUs that this status gives back, in words by id. Looked at
 * before they are anybody else's, so that "free" is never said of one that is not clean; where nobody can tell it is not
 * clean either. Nothing is asked where there are only CPU slots.
 */
export async function leftoverProcesses(
  { db, leftoverMs = timeoutMs }: { readonly db: Db; readonly leftoverMs?: number },
  driver: Driver,
  row: Claimed,
  status: Status,
): Promise<ReadonlyMap<string, string>> {
  if (!givesBack(row, status)) return clean;
  const leases = await leasesOf(db, "environment", row.id);
  const ids = leases.filter(({ kind }) => kind === "gpu").map(({ gpuId }) => gpuId);
  if (ids.length === 0) return clean;
  const until = performance.now() + leftoverMs;
  for (;;) {
    const found = await driver.gpuLeftovers(ids).catch((error) => new Map(ids.map((id) => [id, String(error)])));
    if (found.size === 0 || performance.now() >= until) return found;
    await wait(againMs);
  }
}

/** Settled, it gave them back before. */
function givesBack(row: Claimed, status: Status): boolean {
  if (status === "terminated") return true;
  const isSettled = row.status === status && row.stage === null && row.run_token === null;
  return status === "stopped" && !isSettled && planOf(row.duration_hours) === "hourly";
}
