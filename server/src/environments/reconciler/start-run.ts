import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import type { Driver, Observed, Spec } from "../../drivers/driver.ts";
import { clearDoneNotice } from "../activity/done-notice.ts";
import { placeOf } from "../homes/home-records.ts";
import { isNoHome, type MissingFilesDeps, stopWithoutFiles } from "../homes/missing-files.ts";
import { leasesOf } from "../leases/gpu-leases.ts";
import { moveLeases } from "../leases/move-leases.ts";
import { runLimits } from "../leases/run-limits.ts";
import { newToken } from "../new-token.ts";
import { runIdOf } from "../run-id.ts";
import { type StatusUpdate, waitUpdate } from "./plan.ts";
import type { LeasedEnvironment } from "./work-lease.ts";

/** A start: the row with the run that began, or why it has to wait. */
type Start = { readonly begun: LeasedEnvironment } | { readonly waiting: StatusUpdate };

/**
 * Starts a new run. Undefined where the desired state has changed, and where the files are missing: the environment is
 * then stopped with its time banked, and its owner starts it again when the files are back.
 */
export async function startRun(
  deps: MissingFilesDeps,
  driver: Driver,
  row: LeasedEnvironment,
  observed: Observed,
): Promise<Start | undefined> {
  const waiting = await waitingFor(deps.db, row);
  if (waiting) return { waiting };
  await moveLeases(deps.db, row, () => placeOf(deps.db, row));
  const begun = await beginRun(deps.db, row, observed);
  if (!begun) return undefined;
  try {
    await driver.start(await runSpec(deps.db, begun));
  } catch (error) {
    if (isNoHome(error) && (await stopWithoutFiles(deps, begun, error))) return undefined;
    throw error;
  }
  return { begun };
}

/** Waits until warm runs on these GPUs are removed, because two runs never share one; then for the image. */
async function waitingFor(db: Db, row: LeasedEnvironment): Promise<StatusUpdate | undefined> {
  const { rows } = await sql`
    select from warm_runs w join gpu_leases l on l.gpu_id = any(w.gpus)
    where l.holder_kind = 'environment' and l.holder_id = ${row.id} and l.released_at is null limit 1`.execute(db);
  if (rows.length > 0) return waitUpdate(row);
  const images = await sql<{ percent: number | null }>`
    select percent from host_images
    where host_id = ${row.host_id} and container_type = ${row.container_type} and state = 'preparing'`.execute(db);
  return images.rows[0] && waitUpdate(row, images.rows[0]);
}

/**
 * The row with the generation to start, written before the driver is called. After a crash in between the stage is still
 * `created`, so the same spec is started again: the same run and not a second one. Undefined when the lease was lost or
 * the desired state has changed.
 */
async function beginRun(db: Db, row: LeasedEnvironment, observed: Observed): Promise<LeasedEnvironment | undefined> {
  if (row.run_token !== null && row.stage === "created") return row;
  // A run newer than the row remains after a database was restored from an older copy.
  const newest = observed.state === "absent" ? row.generation : Math.max(row.generation, observed.generation);
  return await db.transaction().execute(async (tx) => {
    const { rows } = await sql<LeasedEnvironment>`
      update environments set generation = ${newest + 1}, run_token = ${newToken()}, endpoint = null,
        stage = 'created', stage_percent = null, ${clearDoneNotice}
      where id = ${row.id} and lease_token = ${row.lease_token} and desired = 'running' returning *`.execute(tx);
    const begun = rows[0];
    if (!begun) return undefined;
    await sql`
      insert into launch_stages (environment_id, generation, stage)
      select ${row.id}, ${begun.generation}, stage from unnest(array['placed', 'image']) stage
      on conflict do nothing`.execute(tx);
    if (row.created_at === null)
      await sql`
        insert into launch_stages (environment_id, generation, stage, at)
        select environment_id, ${begun.generation}, stage, at from launch_stages
        where environment_id = ${row.id} and generation = ${row.generation} and stage in ('ordered', 'paid')
        on conflict do nothing`.execute(tx);
    return begun;
  });
}

/** The driver's spec for a row, the same each time for one generation. Throws when its GPUs are not leased. */
export async function runSpec(db: Db, row: LeasedEnvironment): Promise<Spec> {
  const leases = await leasesOf(db, "environment", row.id);
  if (row.run_token === null) throw new Error(`environment ${row.id} has no token to run with`);
  if (leases.length !== row.gpu_count)
    throw new Error(`environment ${row.id} holds ${leases.length} of ${row.gpu_count} GPUs`);
  const { generation, run_token: token, home, container_type: image } = row;
  const used = await sql`
    select from homes where home = ${home} and host_id = ${row.host_id} and used_at is not null`.execute(db);
  return {
    ...{ id: runIdOf(row), generation, image, token, home, ...runLimits(leases) },
    ...(row.without_settings && { withoutSettings: true }),
    ...(used.rows.length > 0 && { homeIsKept: true }),
  };
}
