import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import {
  backoffMs,
  fetchDue,
  finish,
  finishAndDelete,
  inMs,
  keepLease,
  type Leased,
  nextDueMs,
  workQueue,
} from "../../database/work-queue.ts";
import { type Driver, DriverError, type Endpoint, type Observed, type Spec } from "../../drivers/driver.ts";
import type { HostDeps } from "../hosts/each-host.ts";
import { releaseLeases } from "../leases/gpu-leases.ts";
import { runLimits } from "../leases/run-limits.ts";
import type { WarmRun } from "./warm-runs.ts";

/** A short lease, because the rows of a killed worker wait this long; a working one renews it. */
const queue = workQueue("warm_runs", ["id"], 10);

/** `late`: its start has timed out. */
type LeasedWarmRun = Leased<WarmRun> & { readonly late: boolean };

export interface WarmPoolDeps extends HostDeps {
  /** The gateway's own path. */
  readonly isReady: (endpoint: Endpoint, runToken: string) => Promise<boolean>;
}

const startSeconds = 120;
const workingMs = 100;
/** Of a start that waits for its machine. */
const slowMs = 1000;
const settledMs = 30_000;

/** Leases due runs, but none that an order has. */
export async function fetchWarmRuns(
  db: Db,
  hostIds: readonly string[],
  limit: number,
): Promise<readonly LeasedWarmRun[]> {
  const compute = { late: sql<boolean>`created_at < now() - make_interval(secs => ${startSeconds})` };
  return await fetchDue(db, queue, { where: ofHosts(hostIds), limit, compute });
}

/** Milliseconds until the next of these hosts' runs is due. */
export async function nextWarmRunMs(db: Db, hostIds: readonly string[]): Promise<number> {
  return await nextDueMs(db, queue, ofHosts(hostIds));
}

function ofHosts(hostIds: readonly string[]) {
  return sql`order_id is null and host_id = any(${[...hostIds]})`;
}

export type WarmResult = "ready" | "failed";

type Next = { readonly state: "starting" | "ready" | "ending"; readonly waitMs: number } | "gone";

/**
 * One step for one run. Only a run that starts or ends is changed, and only a ready one can be reserved, so no operation
 * affects an owner's run. `record` gets the result before it is written, because the next refill reads the row.
 */
export async function stepWarmRun(
  deps: WarmPoolDeps,
  row: LeasedWarmRun,
  record: (result: WarmResult) => void,
): Promise<void> {
  const log = deps.log.child({ hostId: row.host_id, warmRunId: row.id });
  const { db } = deps;
  try {
    await keepLease(db, queue, row, log, async () => {
      const driver = deps.drivers.get(row.host_id);
      if (!driver) throw new Error(`no driver for host ${row.host_id}`);
      const next = await (row.state === "ending" ? end(db, driver, row) : makeReady(deps, driver, row));
      if (next === "gone") return await finishAndDelete(db, queue, row);
      if (next.state === "ending" && row.state === "starting") record("failed");
      if (next.state === "ready") record("ready");
      await write(db, row, next);
    });
  } catch (error) {
    log.warn({ event: "warm_run.failed", err: error });
    if (row.state === "starting") record("failed");
    await backOff(db, row, error);
  }
}

async function makeReady(deps: WarmPoolDeps, driver: Driver, row: LeasedWarmRun): Promise<Next> {
  const { warm } = await driver.capabilities();
  const observed = await driver.observe(row.id);
  const isRunning = observed.state === "running";
  const answers = isRunning && (await deps.isReady(observed.endpoint, row.run_token).catch(() => false));
  if (observed.state === warm && (answers || !isRunning)) return { state: "ready", waitMs: settledMs };
  // It is asked once more before it ends, and not handed out meanwhile.
  if (row.state === "ready" && isRunning && warm === "running") return { state: "starting", waitMs: workingMs };
  if (row.state === "ready" || row.late || observed.state === "stopped") return { state: "ending", waitMs: 0 };
  if (observed.state === "absent") await driver.start(await warmRunSpec(deps.db, row));
  if (!answers) return { state: "starting", waitMs: waitsIn(observed) ? slowMs : workingMs };
  await driver.pause(row.id);
  return { state: "starting", waitMs: 0 };
}

const waitsIn = (observed: Observed) => observed.state === "starting" && observed.waiting !== undefined;

async function end(db: Db, driver: Driver, row: LeasedWarmRun): Promise<Next> {
  await driver.remove(row.id);
  await releaseGpus(db, row);
  // It was never used, so the home has no owner.
  await driver.deleteHome(row.home);
  return "gone";
}

/** Before the files are deleted, which may take longer. */
async function releaseGpus(db: Db, { id, lease_token }: LeasedWarmRun): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql`
      update warm_runs set gpus = '{}' where id = ${id} and lease_token = ${lease_token} returning id`.execute(tx);
    if (rows.length > 0) await releaseLeases(tx, "pool", id);
  });
}

/** Equals the spec of the later environment, whose start then finds this run. */
async function warmRunSpec(db: Db, { gpus, ...run }: WarmRun): Promise<Spec> {
  const { id, container_type: image, run_token: token, home } = run;
  const leases = await db
    .selectFrom("gpus")
    .where("id", "in", gpus)
    .orderBy("id")
    .select(["id as gpuId", "kind"])
    .execute();
  return { id, generation: 1, image, token, home, ...runLimits(leases) };
}

/** Keeps a state that was written meanwhile, for a lease of its GPUs or an order; the run is then due at once. */
async function write(db: Db, row: LeasedWarmRun, next: Exclude<Next, "gone">): Promise<void> {
  const isSame = sql`state = ${row.state}`;
  await finish(db, queue, row, {
    attempts: 0,
    state: sql`case when ${isSame} and order_id is null then ${next.state} else state end`,
    due_at: sql`case when ${isSame} then ${inMs(next.waitMs)} else now() end`,
  });
}

/** An unreachable host is retried, and so is a deletion; a run that it refuses to start, or that has lost its node, is given up. */
async function backOff(db: Db, row: LeasedWarmRun, error: unknown): Promise<void> {
  const isLater = !(error instanceof DriverError) || error.code === "unavailable";
  const waitMs = isLater || row.state === "ending" ? backoffMs(row.attempts + 1) : 0;
  await finish(db, queue, row, {
    attempts: row.attempts + 1,
    ...(!isLater && { state: sql<"ending">`case when order_id is null then 'ending' else state end` }),
    due_at: sql`case when state = ${row.state} then ${inMs(waitMs)} else now() end`,
  });
}
