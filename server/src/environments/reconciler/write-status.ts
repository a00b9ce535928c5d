import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import { quarantine } from "../leases/gpu-leases.ts";
import { maxDownMinutes } from "../time/max-down-minutes.ts";
import { creditFault, openClock } from "../time/rental-clock.ts";
import type { UnchangedWriter } from "./batch-unchanged.ts";
import { recordLaunchTime } from "./launch-times.ts";
import { type Delivery, onStatusChange, type StatusHookDeps } from "./on-status-change.ts";
import type { StatusUpdate } from "./plan.ts";
import { keepLaunch, lockAccount, wasSilenceRefunded } from "./silence.ts";
import { abandon, type Claimed, dueIn } from "./work-lease.ts";

export interface WriteStatusDeps extends StatusHookDeps {
  readonly db: Db;
  readonly delivery: Delivery;
  readonly writeUnchanged: UnchangedWriter;
}

/** The update with what was checked after the run was gone. */
interface Written extends StatusUpdate {
  /** What the run left on GPUs that become free, as text by GPU id: they are quarantined. */
  readonly leftovers?: ReadonlyMap<string, string>;
  /** How long that check took. */
  readonly goneSeconds?: number;
}

/** Rolls the transaction back: the claim, or what was wanted, is no longer the one that the update was made under. */
class Overtaken extends Error {}

/**
 * Writes what a pass found, guarded by the claim and by the desired state that it was planned under. The order is locked
 * before the row, as payments does. False where it was overtaken: nothing is written, and the row is due at once.
 */
export async function writeStatus(deps: WriteStatusDeps, row: Claimed, update: Written): Promise<boolean> {
  const isWritten = changesNothing(row, update)
    ? await deps.writeUnchanged({ row, waitMs: update.waitMs })
    : await writeAll(deps, row, update);
  if (!isWritten) await abandon(deps.db, row);
  return isWritten;
}

function changesNothing(row: Claimed, update: StatusUpdate): boolean {
  return (
    row.status === update.status &&
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

async function writeAll(deps: WriteStatusDeps, row: Claimed, update: Written): Promise<boolean> {
  try {
    await deps.db.transaction().execute((tx) => write(tx, deps, row, update));
    return true;
  } catch (error) {
    if (error instanceof Overtaken) return false;
    throw error;
  }
}

async function write(tx: Tx, deps: WriteStatusDeps, row: Claimed, update: Written): Promise<void> {
  const environment = { id: row.id, orderId: row.order_id, userId: row.user_id };
  const isFirst = row.created_at === null;
  const delivered = isFirst ? await reportDelivery(tx, deps, row, update) : { bonusHours: 0 };
  if (typeof delivered === "string") return await giveUp(tx, row, delivered);
  if (update.status === "terminated" && !isFirst) await deps.delivery.ended(tx, environment, unusableSeconds(row));
  await writeRow(tx, row, update);
  await writeStages(tx, row, update);
  if (update.leftovers) await quarantine(tx, update.leftovers);
  const { status, goneSeconds = 0 } = update;
  if (isFirst && status === "stopped") await keepLaunch(tx, row);
  await updateClock(tx, row, update);
  await onStatusChange(tx, deps, row, status, { ...delivered, goneSeconds });
}

/** Before the first readiness: delivered, kept for its owner, or not delivered. A string says why it has to end instead. */
async function reportDelivery(
  tx: Tx,
  { delivery }: WriteStatusDeps,
  row: Claimed,
  { status }: StatusUpdate,
): Promise<{ readonly bonusHours: number } | "not_delivered" | "silent"> {
  const environment = { id: row.id, orderId: row.order_id, userId: row.user_id };
  if (status === "active") return (await delivery.delivered(tx, environment)) ?? "not_delivered";
  if (status === "stopped" && (await isFirstSilence(tx, row))) return "silent";
  if (status === "stopped" && !(await delivery.kept(tx, environment))) return "not_delivered";
  if (status === "terminated") await delivery.undelivered(tx, environment, reasonOf(row));
  return { bonusHours: 0 };
}

/** An account's first silent launch is refunded without a person; a person decides about the next (G106). */
async function isFirstSilence(tx: Tx, row: Claimed): Promise<boolean> {
  await lockAccount(tx, row.user_id);
  return !(await wasSilenceRefunded(tx, row));
}

function reasonOf({ ended_reason: reason }: Claimed): "cancelled" | "silent" | "not_delivered" {
  return reason === "cancelled" || reason === "silent" ? reason : "not_delivered";
}

/** The time that a failure of the machine cost: since it was at fault, or all that was banked (G106). */
function unusableSeconds({ ended_reason, expires_at, fault_since, banked_seconds }: Claimed): number {
  if (!fault_since || (ended_reason !== "hardware" && ended_reason !== "expired")) return 0;
  return expires_at ? Math.max(0, (expires_at.getTime() - fault_since.getTime()) / 1000) : banked_seconds;
}

/** Its order no longer waits, or it is refunded: never shown as active, nor as stopped. */
async function giveUp(tx: Tx, row: Claimed, reason: "not_delivered" | "silent"): Promise<void> {
  await sql`
    update environments set desired = 'terminated', ended_reason = coalesce(ended_reason, ${reason}),
      claim = null, due_at = now()
    where id = ${row.id} and claim = ${row.claim}`.execute(tx);
}

async function writeRow(tx: Tx, row: Claimed, update: StatusUpdate): Promise<void> {
  const { status, fault } = update;
  const isDown = status === "pending" && row.created_at !== null && row.desired === "running";
  // The container gets all of this time, however long the machine took to have one.
  const begins = isDown && (row.down_since === null || row.status === "unknown" || endsFault(row, update));
  const { rows } = await sql`
    update environments
    set status = ${status}, endpoint = ${update.endpoint && JSON.stringify(update.endpoint)},
        stage = ${update.stage}, stage_percent = ${update.stagePercent}, attempts = ${update.attempts},
        run_token = case when ${update.runEnded} then null else run_token end, warm = warm and not ${update.runEnded},
        last_error = null, claim = null,
        terminated_at = case when ${status} = 'terminated' then now() end,
        down_since = case when ${isDown} and status = 'unknown' then now() when ${isDown} then coalesce(down_since, now()) end,
        fault_since = case when ${endsFault(row, update)} then null when ${fault === true} then coalesce(fault_since, now()) else fault_since end,
        give_up_at = case when ${begins} then now() + make_interval(mins => ${maxDownMinutes}) else give_up_at end,
        due_at = ${dueIn(update.waitMs)}
    where id = ${row.id} and claim = ${row.claim} and desired = ${row.desired} returning id`.execute(tx);
  if (rows.length === 0) throw new Overtaken();
}

/** The machine is no longer at fault: its container runs, or nothing is to run. */
function endsFault({ fault_since }: Claimed, { status, fault }: StatusUpdate): boolean {
  return fault_since !== null && (fault === false || status === "stopped");
}

/** A warm run began before it was ordered; for this launch its stages took no time. */
async function writeStages(tx: Tx, row: Claimed, { reached }: StatusUpdate): Promise<void> {
  const generation = row.run_token === null ? row.generation + 1 : row.generation;
  for (const { stage, at } of reached)
    await sql`
      insert into launch_stages (environment_id, generation, stage, at)
      values (${row.id}, ${generation}, ${stage}, greatest(coalesce(${at ?? null}::timestamptz, now()), ${row.requested_at}::timestamptz))
      on conflict do nothing`.execute(tx);
  if (row.created_at === null && reached.some(({ stage }) => stage === "ready"))
    await recordLaunchTime(tx, row.id, generation);
}

/** Opens the clock where the container of a later start is observed; elsewhere credits only what the machine has cost. */
async function updateClock(tx: Tx, row: Claimed, update: StatusUpdate): Promise<void> {
  const { startedAt, reached } = update;
  const isNew = row.expires_at === null || reached.some(({ stage }) => stage === "started");
  if (startedAt && isNew) await openClock(tx, row, startedAt);
  else if (endsFault(row, update)) await creditFault(tx, row);
}
