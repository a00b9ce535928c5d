import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { finish, inMs, type Leased, type WorkQueue } from "../../database/work-queue.ts";
import { DriverError } from "../../drivers/driver.ts";
import type { Logger } from "../../logging/create-logger.ts";
import type { Environment } from "../environment.ts";
import { leaseGpus, type Machine } from "../leases/gpu-leases.ts";
import { leaveRun } from "../warm-pool/warm-runs.ts";

/**
 * Leases GPUs on another machine for an environment, and returns its host; undefined, with nothing changed, where there are
 * none. The former GPUs are free once the run that is left on them has ended; `home` is deleted with that run.
 */
export async function leaveMachine(tx: Tx, row: Environment, home?: string): Promise<string | undefined> {
  const former = await leasedGpus(tx, row.id);
  const host_id = await leaseElsewhere(tx, row, former);
  if (!host_id) return undefined;
  await releaseFormer(tx, row.id, former);
  await leaveRun(tx, row, former, home);
  return host_id;
}

interface LaunchDeps {
  readonly db: Db;
  readonly log: Logger;
}

/**
 * A launch that nobody has used yet, and whose machine gives no sign or takes no runs (`lost`), begins again on another one
 * (G206). False where there is none, or where its name has files: then it waits until its deadline.
 */
export async function launchElsewhere(
  { db, log }: LaunchDeps,
  queue: WorkQueue<Environment>,
  row: Leased<Environment>,
  error: unknown,
): Promise<boolean> {
  const isLost = error instanceof DriverError && error.code === "lost";
  if (!isLost || row.created_at !== null || row.desired !== "running") return false;
  const isLeft = await db.transaction().execute(async (tx) => {
    const { rows } = await sql`
      select from environments where id = ${row.id} and lease_token = ${row.lease_token} for no key update`.execute(tx);
    return rows.length > 0 && (await beginElsewhere(tx, queue, row));
  });
  if (isLeft) log.warn({ event: "environment.launched_elsewhere" }, error.message);
  return isLeft;
}

async function beginElsewhere(tx: Tx, queue: WorkQueue<Environment>, row: Leased<Environment>): Promise<boolean> {
  if (!(await isUnused(tx, row))) return false;
  const host_id = await leaveMachine(tx, row, row.home);
  if (!host_id) return false;
  const home = newId();
  await sql`
    update homes set home = ${home}, host_id = ${host_id}, node = null
    where home = ${row.home} and host_id = ${row.host_id}`.execute(tx);
  const run = { host_id, home, run_id: newId(), run_token: null, warm: false, endpoint: null };
  await finish(tx, queue, row, { ...run, stage: "placed", stage_percent: null, attempts: 0, due_at: inMs(0) });
  return true;
}

async function isUnused(tx: Tx, { home, host_id }: Environment): Promise<boolean> {
  const { rows } = await sql`
    select from homes where home = ${home} and host_id = ${host_id} and used_at is null and left_by is null`.execute(
    tx,
  );
  return rows.length > 0;
}

type LeasedGpu = Machine & { readonly id: string };

async function leasedGpus(tx: Tx, id: string): Promise<readonly LeasedGpu[]> {
  const { rows } = await sql<LeasedGpu>`
    select g.id, g.host_id as "hostId", g.node from gpu_leases l join gpus g on g.id = l.gpu_id
    where l.holder_kind = 'environment' and l.holder_id = ${id} and l.released_at is null order by g.id`.execute(tx);
  return rows;
}

/** Before the former GPUs are released, so that none of them is leased again. */
async function leaseElsewhere(tx: Tx, row: Environment, [first]: readonly LeasedGpu[]): Promise<string | undefined> {
  const { id: holderId, order_id: orderId, gpu_count: gpuCount } = row;
  // CPU slots of a cluster are on no node of their own.
  const exclude = first?.node ? first : undefined;
  const request = { holderId, orderId, gpuCount, exclude } as const;
  return await leaseGpus(tx, { ...request, holderKind: "environment", place: null, holdUntil: null });
}

async function releaseFormer(tx: Tx, id: string, former: readonly LeasedGpu[]): Promise<void> {
  await sql`
    update gpu_leases set released_at = now()
    where holder_kind = 'environment' and holder_id = ${id} and released_at is null
      and gpu_id = any(${former.map((gpu) => gpu.id)})`.execute(tx);
}
