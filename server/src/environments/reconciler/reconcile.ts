import { setTimeout as wait } from "node:timers/promises";
import { withTimeout } from "../../async/with-timeout.ts";
import { finish, inMs, keepLease } from "../../database/work-queue.ts";
import { type Driver, DriverError, type Endpoint, type Observed } from "../../drivers/driver.ts";
import { launchElsewhere } from "../allocation/leave-machine.ts";
import { isNoHome, recordMissingFiles } from "../homes/missing-files.ts";
import { recordHomeNode } from "../homes/record-home-node.ts";
import { runIdOf } from "../run-id.ts";
import { checkDeadlines } from "./check-deadlines.ts";
import { leftoverProcesses } from "./leftover-processes.ts";
import { nextStep, restartUpdate, type StatusUpdate, startUpdate, statusUpdate } from "./plan.ts";
import { runSpec, startRun } from "./start-run.ts";
import { unreachableAfter, writeFailure } from "./status/write-failure.ts";
import { isLoss, lossOf, writeLoss } from "./status/write-loss.ts";
import { type WriteStatusDeps, writeStatus } from "./status/write-status.ts";
import { environmentQueue, type LeasedEnvironment } from "./work-lease.ts";

export interface ReconcileDeps extends WriteStatusDeps {
  readonly drivers: ReadonlyMap<string, Driver>;
  /** The gateway's own path: JupyterLab returns 200 through the forwarding code. */
  readonly isReady: (endpoint: Endpoint, runToken: string) => Promise<boolean>;
  /** How long the memory of a killed program may take to leave a GPU. */
  readonly leftoverMs?: number;
}

const stopGraceMs = 5000;
/**
 * A warm run has to be ready within this time after it is resumed. One that ran all along is seldom silent, and a cluster may
 * be slow to say where it is.
 */
const wakeMs = { paused: 1000, running: 3000 };
const wakePollMs = 20;

/** The result of one pass, and the row that it applies to. */
interface Pass {
  readonly row: LeasedEnvironment;
  readonly update: StatusUpdate;
}

/** Brings one row closer to what is wanted: observe, take one step outside any transaction, observe again, write. */
export async function reconcile({ log: common, ...rest }: ReconcileDeps, row: LeasedEnvironment): Promise<void> {
  const log = common.child({ environmentId: row.id, hostId: row.host_id });
  const deps = { ...rest, log };
  try {
    await keepLease(deps.db, environmentQueue, row, log, () => makePass(deps, row));
  } catch (error) {
    log.warn({ event: "environment.reconcile_failed", err: error });
    if (isLoss(row, error)) return await writeLoss(deps, row, error);
    if (isNoHome(error)) await recordMissingFiles(deps, row, error);
    if (await launchElsewhere(deps, environmentQueue, row, error)) return;
    await writeFailure(deps.db, row, error);
  }
}

async function makePass(deps: ReconcileDeps, row: LeasedEnvironment): Promise<void> {
  const driver = deps.drivers.get(row.host_id);
  if (!driver) throw new Error(`no driver for host ${row.host_id}`);
  const pass = await takeStep(deps, driver, row);
  if (!pass) return void (await finish(deps.db, environmentQueue, row, { due_at: inMs(0) }));
  if (pass.update.freesGpus) return await writeEnd(deps, driver, pass);
  const isWritten = await writeStatus(deps, pass.row, pass.update);
  const { settled, status } = pass.update;
  if (isWritten && status === "active" && row.status !== status) await recordHomeNode(deps, driver, row);
  if (settled && (status === "active" || status === "paused")) await checkDeadlines(deps, row);
}

/** One driver verb at most. Undefined where the row changed meanwhile, or its machine is lost. */
async function takeStep(deps: ReconcileDeps, driver: Driver, row: LeasedEnvironment): Promise<Pass | undefined> {
  const before = await driver.observe(runIdOf(row)).catch((error) => absentIfGivenUp(row, error));
  const loss = lossOf(row, before);
  if (loss) return void (await writeLoss(deps, row, loss, "again"));
  if (row.warm && row.created_at === null && row.desired === "running") return await wake(deps, driver, row, before);
  const step = nextStep(row, before);
  if (step === "restart") return { row, update: restartUpdate(row, before) };
  if (step === "none" || step === "wait") return await passFrom(deps, row, before);
  if (step === "start") {
    const start = await startRun(deps, driver, row, before);
    if (!start) return undefined;
    if ("waiting" in start) return { row, update: start.waiting };
    return await passFrom(deps, start.begun, await driver.observe(runIdOf(row)));
  }
  if (step === "resume") await driver.start(await runSpec(deps.db, row));
  if (step === "pause") await driver.pause(runIdOf(row));
  if (step === "stop") await driver.stop(runIdOf(row), stopGraceMs);
  if (step === "remove") await driver.remove(runIdOf(row));
  return await passFrom(deps, row, await driver.observe(runIdOf(row)));
}

/**
 * A launch that is given up does not wait for an unreachable host, and no end waits for a lost machine: the run is removed
 * when the machine is back.
 */
function absentIfGivenUp({ created_at, desired, attempts }: LeasedEnvironment, error: unknown): Observed {
  if (error instanceof DriverError && error.code === "lost" && desired === "terminated") return { state: "absent" };
  const isUnreachable = error instanceof DriverError && error.code === "unavailable" && attempts >= unreachableAfter;
  if (isUnreachable && created_at === null && desired !== "running") return { state: "absent" };
  throw error;
}

/** Resumes the warm run of this launch. One that ended or is not ready in time is replaced by a cold start. */
async function wake(deps: ReconcileDeps, driver: Driver, row: LeasedEnvironment, before: Observed): Promise<Pass> {
  const cold = { row, update: { ...startUpdate(row), runEnded: true } };
  if (before.state !== "paused" && before.state !== "running") return cold;
  try {
    await driver.start(await runSpec(deps.db, row));
  } catch (error) {
    if (error instanceof DriverError && error.code !== "unavailable") return cold;
    throw error;
  }
  const end = performance.now() + wakeMs[before.state];
  const isReady: ReconcileDeps["isReady"] = (...run) =>
    withTimeout(deps.isReady(...run), Math.max(0, end - performance.now()), () => false);
  do {
    const pass = await passFrom({ ...deps, isReady }, row, await driver.observe(runIdOf(row)));
    if (pass.update.status === "active") return pass;
    await wait(wakePollMs);
  } while (performance.now() < end);
  return cold;
}

/** Probes the row's own run once it is running, and returns the update. */
async function passFrom(
  { isReady }: Pick<ReconcileDeps, "isReady">,
  row: LeasedEnvironment,
  observed: Observed,
): Promise<Pass> {
  const { run_token: token, generation } = row;
  if (row.status === "active") return { row, update: statusUpdate(row, observed, true) };
  const isOwn = row.desired === "running" && observed.state === "running" && observed.generation === generation;
  const ready = isOwn && token !== null && (await isReady(observed.endpoint, token).catch(() => false));
  return { row, update: statusUpdate(row, observed, ready) };
}

/** Checks the GPUs for leftover processes before they become free. */
async function writeEnd(deps: ReconcileDeps, driver: Driver, { row, update }: Pass): Promise<void> {
  const goneAtMs = performance.now();
  const leftovers = await leftoverProcesses(deps, driver, row);
  const goneSeconds = (performance.now() - goneAtMs) / 1000;
  if (!(await writeStatus(deps, row, { ...update, leftovers, goneSeconds }))) return;
  for (const [gpuId, text] of leftovers) deps.log.fatal({ event: "gpu.quarantined", gpuId }, text);
}
