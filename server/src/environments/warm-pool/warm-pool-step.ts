import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { type Driver, DriverError, type Endpoint, type Spec } from "../../drivers/driver.ts";
import { logError } from "../../logging/create-logger.ts";
import { backoffMs } from "../backoff-ms.ts";
import type { HostDeps } from "../hosts/each-host.ts";
import { releaseLeases } from "../leases/gpu-leases.ts";
import { runLimits } from "../leases/run-limits.ts";
import type { WarmRun } from "./warm-runs.ts";

/** A run that this worker alone may bring closer, as long as it renews its claim. */
export interface ClaimedWarmRun extends WarmRun {
  readonly claim: string;
  /** It has been starting for so long that it is given up. */
  readonly late: boolean;
}

export interface WarmPoolDeps extends HostDeps {
  /** The gateway's own path. */
  readonly isReady: (endpoint: Endpoint, runToken: string) => Promise<boolean>;
}

const claimSeconds = 10;
const renewMs = 3000;
const startSeconds = 120;
const workingMs = 100;
const settledMs = 30_000;

/** Due runs, except what an order has taken: nothing is done to these. */
export async function claimDueWarmRuns(
  db: Db,
  hostIds: readonly string[],
  limit: number,
): Promise<readonly ClaimedWarmRun[]> {
  const { rows } = await sql<ClaimedWarmRun>`
    with due as (
      select id from warm_runs where due_at <= now() and order_id is null and host_id = any(${[...hostIds]})
      order by due_at limit ${limit} for update skip locked)
    update warm_runs w set claim = gen_random_uuid(), due_at = now() + make_interval(secs => ${claimSeconds})
    from due where w.id = due.id
    returning w.*, w.created_at < now() - make_interval(secs => ${startSeconds}) as late`.execute(db);
  return rows;
}

/** Milliseconds until the next of these hosts' runs is due. */
export async function nextWarmRunMs(db: Db, hostIds: readonly string[]): Promise<number> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(due_at) - now()) * 1000)::float8 as ms from warm_runs
    where order_id is null and host_id = any(${[...hostIds]})`.execute(db);
  return Math.max(0, Math.ceil(rows[0]?.ms ?? Number.POSITIVE_INFINITY));
}

export type WarmResult = "ready" | "failed";

type Next = { readonly state: "starting" | "ready" | "ending"; readonly waitMs: number } | "gone";

/**
 * One step for one run. Only what is starting or ending is touched, and only what is ready can be claimed: no verb of
 * ours can meet an owner's run, and what is leased on is not started again. `note` hears the result before it is written,
 * for whoever makes the next run reads what is written.
 */
export async function stepWarmRun(
  deps: WarmPoolDeps,
  row: ClaimedWarmRun,
  note: (result: WarmResult) => void,
): Promise<void> {
  const log = deps.log.child({ hostId: row.host_id, warmRunId: row.id });
  const { db } = deps;
  const renewing = setInterval(() => void renew(db, row).catch(logError(log, "warm_run.lease_not_renewed")), renewMs);
  try {
    const driver = deps.drivers.get(row.host_id);
    if (!driver) throw new Error(`no driver for host ${row.host_id}`);
    const next = await (row.state === "ending" ? end(db, driver, row) : makeReady(deps, driver, row));
    if (next === "gone") return await deleteRow(db, row);
    if (next.state === "ending" && row.state === "starting") note("failed");
    if (next.state === "ready") note("ready");
    await write(db, row, next);
  } catch (error) {
    log.warn({ event: "warm_run.failed", err: error });
    if (row.state === "starting") note("failed");
    await backOff(db, row, error);
  } finally {
    clearInterval(renewing);
  }
}

async function makeReady(deps: WarmPoolDeps, driver: Driver, row: ClaimedWarmRun): Promise<Next> {
  const observed = await driver.observe(row.id);
  if (observed.state === "paused") return { state: "ready", waitMs: settledMs };
  if (row.state === "ready" || row.late || observed.state === "stopped") return { state: "ending", waitMs: 0 };
  if (observed.state === "absent") await driver.start(await warmRunSpec(deps.db, row));
  if (observed.state !== "running" || !(await deps.isReady(observed.endpoint, row.run_token).catch(() => false)))
    return { state: "starting", waitMs: workingMs };
  await driver.pause(row.id);
  return { state: "starting", waitMs: 0 };
}

async function end(db: Db, driver: Driver, row: ClaimedWarmRun): Promise<Next> {
  await driver.remove(row.id);
  await freeGpus(db, row);
  // Nobody has ever seen it, so nothing in it is anybody's.
  await driver.deleteHome(row.home);
  return "gone";
}

/** Its files may take longer, or be refused for a while: the GPUs are not kept for them. */
async function freeGpus(db: Db, { id, claim }: ClaimedWarmRun): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } =
      await sql`update warm_runs set gpus = '{}' where id = ${id} and claim = ${claim} returning id`.execute(tx);
    if (rows.length > 0) await releaseLeases(tx, "pool", id);
  });
}

/** The very spec that the environment will ask for: the same run, and no second one. */
async function warmRunSpec(
  db: Db,
  { id, container_type: image, run_token: token, home, gpus }: WarmRun,
): Promise<Spec> {
  const leases = await db
    .selectFrom("gpus")
    .where("id", "in", gpus)
    .orderBy("id")
    .select(["id as gpuId", "kind"])
    .execute();
  return { id, generation: 1, image, token, home, ...runLimits(leases) };
}

async function renew(db: Db, { id, claim }: ClaimedWarmRun): Promise<void> {
  await sql`
    update warm_runs set due_at = now() + make_interval(secs => ${claimSeconds}) where id = ${id} and claim = ${claim}`.execute(
    db,
  );
}

/** Whoever leased its GPUs meanwhile, or claimed it, has written what it is now; it is then due at once. */
async function write(db: Db, { id, claim, state }: ClaimedWarmRun, next: Exclude<Next, "gone">): Promise<void> {
  await sql`
    update warm_runs set claim = null, attempts = 0,
      state = case when state = ${state} and order_id is null then ${next.state} else state end,
      due_at = case when state = ${state} then now() + make_interval(secs => ${next.waitMs / 1000}) else now() end
    where id = ${id} and claim = ${claim}`.execute(db);
}

async function deleteRow(db: Db, { id, claim }: ClaimedWarmRun): Promise<void> {
  await sql`delete from warm_runs where id = ${id} and claim = ${claim}`.execute(db);
}

/** A host out of reach is waited for, and so is what it does not delete yet; what it refuses to start is given up. */
async function backOff(db: Db, { id, claim, state, attempts }: ClaimedWarmRun, error: unknown): Promise<void> {
  const isLater = !(error instanceof DriverError) || error.code === "unavailable";
  const waitMs = isLater || state === "ending" ? backoffMs(attempts + 1) : 0;
  await sql`
    update warm_runs set claim = null, attempts = attempts + 1,
      state = case when state = 'starting' and not ${isLater} then 'ending' else state end,
      due_at = case when state = ${state} then now() + make_interval(secs => ${waitMs / 1000}) else now() end
    where id = ${id} and claim = ${claim}`.execute(db);
}
