import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { withoutLease } from "../../database/work-queue.ts";
import { leasesOf, quarantine } from "../leases/gpu-leases.ts";
import type { Announce } from "../notice.ts";
import { maxDownMinutes } from "../time/max-down-minutes.ts";

/** An active environment that has GPUs. */
export interface WithGpus {
  readonly id: string;
  readonly runId: string;
  readonly userId: string;
  readonly subdomain: string;
  readonly generation: number;
  /** The run that was replaced because its GPUs did not respond; null: no fault is suspected. */
  readonly faultyGeneration: number | null;
}

/** Nothing is done to a later run, or to one that its owner has stopped. */
const stillRuns = ({ id, generation }: WithGpus) =>
  sql`id = ${id} and generation = ${generation} and status = 'active' and desired = 'running'`;

/**
 * Drops the run, so that the reconciler starts the next generation with the same files. The seconds without a response
 * are credited at once, those until the new container runs when it does. False when it is no longer that run.
 */
export async function replaceRun(db: Db, announce: Announce, row: WithGpus, seconds: number): Promise<boolean> {
  const { id, userId, subdomain, generation } = row;
  return await db.transaction().execute(async (tx) => {
    const { rows } = await sql`
      update environments
      set status = 'pending', stage = 'placed', stage_percent = null, endpoint = null, run_token = null,
        ${withoutLease}, attempts = 0, due_at = now(), down_since = now(), fault_since = now(), faulty_generation = generation,
        give_up_at = now() + make_interval(mins => ${maxDownMinutes}),
        expires_at = expires_at + make_interval(secs => ${seconds})
      where ${stillRuns(row)} returning id`.execute(tx);
    if (rows.length === 0) return false;
    await announce(tx, {
      userId,
      cause: `gpu:${id}:${generation}`,
      title: `${subdomain} was started anew`,
      body: "Its GPUs no longer answered. Your files are all there; what was in memory is lost. The time that this took is added at the end.",
      link: `/environments/${id}`,
    });
    return true;
  });
}

/**
 * The GPUs of the next run do not respond either: they are quarantined and the rental ends for a failure of the machine,
 * which refunds the rest of it (docs/internals/money.md). False when it is no longer that run.
 */
export async function quarantineGpus(db: Db, row: WithGpus, seconds: number, fault: string): Promise<boolean> {
  return await db.transaction().execute(async (tx) => {
    const { rows } = await sql`
      update environments
      set desired = 'terminated', ended_reason = 'hardware', ${withoutLease}, due_at = now(),
        fault_since = now() - make_interval(secs => ${seconds})
      where ${stillRuns(row)} returning id`.execute(tx);
    if (rows.length === 0) return false;
    const leases = await leasesOf(tx, "environment", row.id);
    await quarantine(tx, new Map(leases.filter(({ kind }) => kind === "gpu").map(({ gpuId }) => [gpuId, fault])));
    return true;
  });
}

/** The GPUs of the new run respond: no fault is suspected any more. */
export async function clearGpuFault(db: Db, row: WithGpus): Promise<void> {
  await sql`update environments set faulty_generation = null where ${stillRuns(row)}`.execute(db);
}
