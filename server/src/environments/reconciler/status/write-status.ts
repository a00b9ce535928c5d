import type { EndedReason } from "@berth/contract";
import { type RawBuilder, sql } from "kysely";
import type { Db, Tx } from "../../../database/database.ts";
import type { Address } from "../../../database/json-columns.ts";
import { finish, inMs } from "../../../database/work-queue.ts";
import type { Logger } from "../../../logging/create-logger.ts";
import { quarantine } from "../../leases/gpu-leases.ts";
import { maxDownMinutes } from "../../time/max-down-minutes.ts";
import { creditFault, openClock } from "../../time/rental-clock.ts";
import type { UnchangedWriter } from "../batch-unchanged.ts";
import { recordLaunchTime } from "../launch-times.ts";
import type { StatusUpdate } from "../plan.ts";
import { keepLaunch, lockAccount, wasSilenceRefunded } from "../silence.ts";
import { isSameWait, waitColumns } from "../wait-columns.ts";
import { dueIn, environmentQueue, type LeasedEnvironment } from "../work-lease.ts";
import { announceRestart } from "./announce-restart.ts";
import { type Delivery, onStatusChange, type StatusHookDeps } from "./on-status-change.ts";

export interface WriteStatusDeps extends StatusHookDeps {
  readonly db: Db;
  readonly log: Logger;
  readonly delivery: Delivery;
  readonly writeUnchanged: UnchangedWriter;
}

/** The update with the check of the GPUs after the run was gone. */
interface Written extends StatusUpdate {
  /** Leftover processes on GPUs that become free, as text by GPU id: these GPUs are quarantined. */
  readonly leftovers?: ReadonlyMap<string, string>;
  /** How long that check took. */
  readonly goneSeconds?: number;
}

/** Rolls the transaction back: the lease or the desired state has changed since the pass began. */
class Overtaken extends Error {}

/**
 * Writes the result of a pass, guarded by the lease and by the desired state that it was planned under. The order is locked
 * before the row, as payments does. False where it was overtaken: nothing is written, and the row is due at once.
 */
export async function writeStatus(deps: WriteStatusDeps, row: LeasedEnvironment, update: Written): Promise<boolean> {
  const isWritten = changesNothing(row, update)
    ? await deps.writeUnchanged({ row, waitMs: update.waitMs })
    : await writeAll(deps, row, update);
  if (!isWritten) await finish(deps.db, environmentQueue, row, { due_at: inMs(0) });
  return isWritten;
}

function changesNothing(row: LeasedEnvironment, update: StatusUpdate): boolean {
  return (
    row.status === update.status &&
    isSameWait(row, update) &&
    row.stage === update.stage &&
    row.stage_percent === update.stagePercent &&
    JSON.stringify(row.endpoint) === JSON.stringify(update.endpoint) &&
    update.reached.length === 0 &&
    update.attempts === 0 &&
    !update.runEnded &&
    !endsFault(row, update) &&
    (update.fault !== true || row.fault_since !== null) &&
    !(update.startedAt && row.created_at !== null && row.expires_at === null)
  );
}

async function writeAll(deps: WriteStatusDeps, row: LeasedEnvironment, update: Written): Promise<boolean> {
  try {
    const isApplied = await deps.db.transaction().execute((tx) => write(tx, deps, row, update));
    if (isApplied) logChange(deps, row, update);
    return true;
  } catch (error) {
    if (error instanceof Overtaken) return false;
    throw error;
  }
}

function logChange({ log }: WriteStatusDeps, row: LeasedEnvironment, update: StatusUpdate): void {
  const { status, waiting, ended } = update;
  const { order_id: orderId, waits_for, ended_reason: reason, last_error: error } = row;
  if (waiting && waiting.for !== waits_for)
    log.warn({ event: "environment.waits", orderId, waitsFor: waiting.for }, waiting.message);
  if (ended) log.warn({ event: "environment.restarted", orderId, ended }, "a run ended, and the next one is started");
  if (status === row.status) return;
  if (status === "active") log.info({ event: "environment.ready", orderId }, "an environment is ready");
  if (status !== "terminated") return;
  const waited = waits_for !== null && { waitsFor: waits_for, error };
  log.info({ event: "environment.ended", orderId, reason, ...waited }, "an environment has ended");
}

/** False where the environment has to end instead. */
async function write(tx: Tx, deps: WriteStatusDeps, row: LeasedEnvironment, update: Written): Promise<boolean> {
  const environment = { id: row.id, orderId: row.order_id, userId: row.user_id };
  const isFirst = row.created_at === null;
  const delivered = isFirst ? await reportDelivery(tx, deps, row, update) : { bonusHours: 0 };
  if (typeof delivered === "string") {
    await giveUp(tx, row, delivered);
    return false;
  }
  if (update.status === "terminated" && !isFirst) await deps.delivery.ended(tx, environment, unusableSeconds(row));
  await writeRow(tx, row, update);
  await writeStages(tx, row, update);
  if (update.leftovers) await quarantine(tx, update.leftovers);
  const { status, goneSeconds = 0 } = update;
  if (isFirst && status === "stopped") await keepLaunch(tx, row, delivered.bonusHours);
  await updateClock(tx, row, update);
  await onStatusChange(tx, deps, row, status, { ...delivered, goneSeconds });
  if (update.ended) await announceRestart(tx, deps.announce, row, update.ended);
  return true;
}

/** Before the first readiness: delivered, kept for its owner, or not delivered. A string is the reason to end it instead. */
async function reportDelivery(
  tx: Tx,
  { delivery }: WriteStatusDeps,
  row: LeasedEnvironment,
  { status }: StatusUpdate,
): Promise<{ readonly bonusHours: number } | "not_delivered" | "silent"> {
  const environment = { id: row.id, orderId: row.order_id, userId: row.user_id };
  if (status === "active") return (await delivery.delivered(tx, environment)) ?? "not_delivered";
  if (status === "stopped" && (await isFirstSilence(tx, row))) return "silent";
  if (status === "stopped") return (await delivery.kept(tx, environment)) ?? "not_delivered";
  if (status === "terminated") await delivery.undelivered(tx, environment, reasonOf(row));
  return { bonusHours: 0 };
}

/** An account's first silent launch is refunded without a person; a person decides about the next (G106). */
async function isFirstSilence(tx: Tx, row: LeasedEnvironment): Promise<boolean> {
  await lockAccount(tx, row.user_id);
  return !(await wasSilenceRefunded(tx, row));
}

function reasonOf({ ended_reason: reason }: LeasedEnvironment): "cancelled" | "silent" | "not_delivered" {
  return reason === "cancelled" || reason === "silent" ? reason : "not_delivered";
}

/** The time that a failure of the machine cost: since it was at fault, or all that was banked (G106). */
function unusableSeconds({ ended_reason, expires_at, fault_since, banked_seconds }: LeasedEnvironment): number {
  if (!fault_since || (ended_reason !== "hardware" && ended_reason !== "expired")) return 0;
  return expires_at ? Math.max(0, (expires_at.getTime() - fault_since.getTime()) / 1000) : banked_seconds;
}

/** Ends a launch whose order no longer waits or is refunded: it is never shown as active or stopped. */
async function giveUp(tx: Tx, row: LeasedEnvironment, reason: "not_delivered" | "silent"): Promise<void> {
  const ended_reason = sql<EndedReason>`coalesce(ended_reason, ${reason})`;
  await finish(tx, environmentQueue, row, { desired: "terminated", ended_reason, due_at: inMs(0) });
}

async function writeRow(tx: Tx, row: LeasedEnvironment, update: StatusUpdate): Promise<void> {
  const { status, fault } = update;
  const isDown = status === "pending" && row.created_at !== null && row.desired === "running";
  // The container gets all of this time, however long the machine took to have one.
  const begins = isDown && (row.down_since === null || row.status === "unknown" || endsFault(row, update));
  const fault_since = endsFault(row, update)
    ? null
    : fault
      ? sql<Date>`coalesce(fault_since, ${goneSince(row, update)})`
      : undefined;
  const values = {
    status,
    endpoint: sql<Address | null>`${update.endpoint && JSON.stringify(update.endpoint)}`,
    stage: update.stage,
    stage_percent: update.stagePercent,
    attempts: update.attempts,
    ...(update.runEnded && { run_token: null, warm: false }),
    ...waitColumns(row, update),
    // Known again, or over.
    ...(status !== "unknown" && status !== "pending" && { lost_since: null }),
    terminated_at: status === "terminated" ? sql<Date>`now()` : null,
    down_since: isDown ? sql<Date>`case when status = 'unknown' then now() else coalesce(down_since, now()) end` : null,
    ...(fault_since !== undefined && { fault_since }),
    ...(begins && { give_up_at: inMs(maxDownMinutes * 60_000) }),
    due_at: dueIn(update.waitMs),
  };
  if (!(await finish(tx, environmentQueue, row, values, sql`desired = ${row.desired}`))) throw new Overtaken();
}

/** A run that its machine ended: after an outage of Berth it is gone since it should have been looked at (G347). */
function goneSince({ due_at: dueAt }: LeasedEnvironment, { ended }: StatusUpdate): RawBuilder<Date> {
  return ended === "machine" ? sql<Date>`greatest(created_at, least(now(), ${dueAt}::timestamptz))` : sql<Date>`now()`;
}

/** The machine is no longer at fault: its container runs, or nothing is to run. */
function endsFault({ fault_since }: LeasedEnvironment, { status, fault }: StatusUpdate): boolean {
  return fault_since !== null && (fault === false || status === "stopped");
}

/** A warm run began before it was ordered; for this launch its stages took no time. A machine's clock may be ahead. */
async function writeStages(tx: Tx, row: LeasedEnvironment, { reached }: StatusUpdate): Promise<void> {
  const generation = row.run_token === null ? row.generation + 1 : row.generation;
  for (const { stage, at } of reached)
    await sql`
      insert into launch_stages (environment_id, generation, stage, at)
      values (${row.id}, ${generation}, ${stage},
        least(now(), greatest(coalesce(${at ?? null}::timestamptz, now()), ${row.requested_at}::timestamptz)))
      on conflict do nothing`.execute(tx);
  if (row.created_at === null && reached.some(({ stage }) => stage === "ready"))
    await recordLaunchTime(tx, row.id, generation);
}

/** Opens the clock where the container of a later start is observed; elsewhere credits only what the machine has cost. */
async function updateClock(tx: Tx, row: LeasedEnvironment, update: StatusUpdate): Promise<void> {
  const { startedAt, reached } = update;
  const isNew = row.expires_at === null || reached.some(({ stage }) => stage === "started");
  if (startedAt && isNew) await openClock(tx, row, startedAt);
  else if (endsFault(row, update)) await creditFault(tx, row);
}
