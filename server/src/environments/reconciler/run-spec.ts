import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import type { Observed, Spec } from "../../drivers/driver.ts";
import { leasesOf } from "../leases/gpu-leases.ts";
import { shareOf } from "../leases/run-limits.ts";
import { newToken } from "../new-token.ts";
import type { Claimed } from "./work-lease.ts";

/** What a row's run is, or is about to be. */
type Run = Pick<Claimed, "id" | "generation" | "run_token" | "stage">;

/**
 * What is there, as far as this row's run goes: a run of another generation, or one whose token we do not have, cannot
 * be what is wanted running, and counts as one that ended.
 */
export function seenState(row: Run & Pick<Claimed, "desired">, observed: Observed): Observed["state"] {
  if (row.desired !== "running" || observed.state === "absent") return observed.state;
  return observed.generation === row.generation && row.run_token !== null ? observed.state : "stopped";
}

/** Whether the run that this row waited for or had is over without anybody having asked. */
export function endedByItself(row: Run & Pick<Claimed, "desired">, observed: Observed): boolean {
  if (row.desired !== "running" || row.run_token === null) return false;
  if (observed.state === "absent") return row.stage !== "created";
  return observed.state === "stopped" && observed.generation === row.generation;
}

/**
 * The row with the generation to start. Written before the driver hears of it: after a crash in between, the stage still
 * says `created` and the very same spec is started again, which is the same run and not a second one. Undefined when the
 * claim was lost or something else is wanted by now.
 */
export async function beginRun(db: Db, row: Claimed, found: Observed): Promise<Claimed | undefined> {
  if (row.run_token !== null && row.stage === "created") return row;
  // A run newer than the row is left by a database that was restored from an older copy.
  const newest = found.state === "absent" ? row.generation : Math.max(row.generation, found.generation);
  return await db.transaction().execute(async (tx) => {
    const { rows } = await sql<Claimed>`
      update environments set generation = ${newest + 1}, run_token = ${newToken()}, endpoint = null,
        stage = 'created', stage_percent = null
      where id = ${row.id} and claim = ${row.claim} and desired = 'running' returning *`.execute(tx);
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

/** The driver's order for a row, the same each time it is asked for one generation. Throws when its GPUs are not leased. */
export async function specOf(db: Db, row: Claimed): Promise<Spec> {
  const leases = await leasesOf(db, "environment", row.id);
  if (row.run_token === null) throw new Error(`environment ${row.id} has no token to run with`);
  if (leases.length !== row.gpu_count)
    throw new Error(`environment ${row.id} holds ${leases.length} of ${row.gpu_count} GPUs`);
  const { id, generation, run_token: token, home, container_type: image } = row;
  const files = await db
    .selectFrom("homes")
    .select("used_at")
    .where("home", "=", home)
    .where("host_id", "=", row.host_id)
    .executeTakeFirst();
  return {
    ...{ id, generation, image, token, home, ...shareOf(leases) },
    ...(row.without_settings && { withoutSettings: true }),
    ...(files?.used_at && { homeIsKept: true }),
  };
}

/** Whether something that stood ready on this row's GPUs has not been removed yet (warm.ts): two runs never share one. */
export async function waitsForGpus(db: Db, { id }: Run): Promise<boolean> {
  const { rows } = await sql`
    select from warm_runs w join gpu_leases l on l.gpu_id = any(w.gpus)
    where l.holder_kind = 'environment' and l.holder_id = ${id} and l.released_at is null limit 1`.execute(db);
  return rows.length > 0;
}

/** How far `prepare` is with a row's image on its host; undefined where nobody has said. */
export async function imageOf(db: Db, row: Claimed) {
  return await db
    .selectFrom("host_images")
    .where("host_id", "=", row.host_id)
    .where("container_type", "=", row.container_type)
    .select(["state", "percent"])
    .executeTakeFirst();
}
