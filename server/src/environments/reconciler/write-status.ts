import type { LaunchStage, Status } from "@berth/contract";
import { sql } from "kysely";
import { together } from "../../async/batch.ts";
import type { Db, Tx } from "../../database/database.ts";
import { DriverError, type Endpoint } from "../../drivers/driver.ts";
import { backoffMs } from "../backoff-ms.ts";
import { quarantine } from "../leases/gpu-leases.ts";
import { maxDownMinutes } from "../time/max-down-minutes.ts";
import { creditFault, openClock } from "../time/rental-clock.ts";
import { recordLaunchTime } from "./launch-times.ts";
import { type Delivery, onStatusChange, type StatusHookDeps } from "./on-status-change.ts";
import { keepLaunch, lockAccount, wasSilenceRefunded } from "./silence.ts";
import { abandon, type Claimed, dueIn } from "./work-lease.ts";

/** What one pass found. */
export interface Outcome {
  readonly status: Status;
  readonly endpoint: Endpoint | null;
  /** The stage being worked on; null once it answered, or when nothing is starting. */
  readonly stage: LaunchStage | null;
  readonly stagePercent: number | null;
  /** Stages reached, with the driver's own time where it has one. */
  readonly stamps: readonly { readonly stage: LaunchStage; readonly at: Date | undefined }[];
  /** The run is over: its token is void and the next one is a new generation. */
  readonly runOver: boolean;
  readonly attempts: number;
  readonly waitMs: number;
  /** What the run left on GPUs that are given back, in words by id: they are put aside. */
  readonly residue?: ReadonlyMap<string, string>;
  /** Whether the machine keeps it from running (G106); undefined where this pass did not show it. */
  readonly fault?: boolean;
  /** When the container of what is to run began. */
  readonly startedAt?: Date;
  /** How long that look took, after the run was seen to be gone. */
  readonly goneSeconds?: number;
}

export interface RecordParts extends StatusHookDeps {
  readonly db: Db;
  readonly delivery: Delivery;
  /** Made by `settling`. */
  readonly settle: Settle;
}

/** Thrown to undo a record whose claim, or what was wanted, is no longer the one it was made under. */
class Overtaken extends Error {}

/**
 * Writes what a pass found, guarded by the claim and by the desired state it was planned under (CONTRIBUTING 6). The
 * order is locked before the row, as payments does. Answers false where it was overtaken: nothing is written, and the
 * row is due at once.
 */
export async function record(parts: RecordParts, row: Claimed, outcome: Outcome): Promise<boolean> {
  const isWritten = isQuiet(row, outcome)
    ? await parts.settle({ row, waitMs: outcome.waitMs })
    : await writeAll(parts, row, outcome);
  if (!isWritten) await abandon(parts.db, row);
  return isWritten;
}

async function writeAll(parts: RecordParts, row: Claimed, outcome: Outcome): Promise<boolean> {
  try {
    await parts.db.transaction().execute((tx) => write(tx, parts, row, outcome));
    return true;
  } catch (error) {
    if (error instanceof Overtaken) return false;
    throw error;
  }
}

async function write(tx: Tx, parts: RecordParts, row: Claimed, outcome: Outcome): Promise<void> {
  const environment = { id: row.id, orderId: row.order_id, userId: row.user_id };
  const isFirst = row.created_at === null;
  const told = isFirst ? await tellFirst(tx, parts, row, outcome) : { bonusHours: 0 };
  if (typeof told === "string") return await giveUp(tx, row, told);
  if (outcome.status === "terminated" && !isFirst) await parts.delivery.ended(tx, environment, unpaidOf(row));
  await writeRow(tx, row, outcome);
  await stamp(tx, row, outcome);
  if (outcome.residue) await quarantine(tx, outcome.residue);
  const { status, goneSeconds = 0 } = outcome;
  if (isFirst && status === "stopped") await keepLaunch(tx, row);
  await keepClock(tx, row, outcome);
  await onStatusChange(tx, parts, row, status, { ...told, goneSeconds });
}

/** What never answered before: delivered, kept for its owner, or not delivered. Answers why it has to end instead. */
async function tellFirst(
  tx: Tx,
  { delivery }: RecordParts,
  row: Claimed,
  { status }: Outcome,
): Promise<{ readonly bonusHours: number } | "not_delivered" | "silent"> {
  const environment = { id: row.id, orderId: row.order_id, userId: row.user_id };
  if (status === "active") return (await delivery.delivered(tx, environment)) ?? "not_delivered";
  if (status === "stopped" && (await isPaidBack(tx, row))) return "silent";
  if (status === "stopped" && !(await delivery.kept(tx, environment))) return "not_delivered";
  if (status === "terminated") await delivery.undelivered(tx, environment, reasonOf(row));
  return { bonusHours: 0 };
}

async function writeRow(tx: Tx, row: Claimed, outcome: Outcome): Promise<void> {
  const { status, fault } = outcome;
  const isDown = status === "pending" && isToRunAgain(row);
  // Ten minutes of the container's own, however long the machine took to have one.
  const begins = isDown && (row.down_since === null || row.status === "unknown" || endsFault(row, outcome));
  const { rows } = await sql`
    update environments
    set status = ${status}, endpoint = ${outcome.endpoint && JSON.stringify(outcome.endpoint)},
        stage = ${outcome.stage}, stage_percent = ${outcome.stagePercent}, attempts = ${outcome.attempts},
        run_token = case when ${outcome.runOver} then null else run_token end, warm = warm and not ${outcome.runOver},
        last_error = null, claim = null,
        terminated_at = case when ${status} = 'terminated' then now() end,
        down_since = case when ${isDown} and status = 'unknown' then now() when ${isDown} then coalesce(down_since, now()) end,
        fault_since = case when ${endsFault(row, outcome)} then null when ${fault === true} then coalesce(fault_since, now()) else fault_since end,
        give_up_at = case when ${begins} then now() + make_interval(mins => ${maxDownMinutes}) else give_up_at end,
        due_at = ${dueIn(outcome.waitMs)}
    where id = ${row.id} and claim = ${row.claim} and desired = ${row.desired} returning id`.execute(tx);
  if (rows.length === 0) throw new Overtaken();
}

/** The machine was at fault and is not any more: its container runs, or nothing is to run. */
function endsFault({ fault_since }: Claimed, { status, fault }: Outcome): boolean {
  return fault_since !== null && (fault === false || status === "stopped");
}

/** Opens the clock where a container of a later start is seen; elsewhere only gives back what the machine has cost. */
async function keepClock(tx: Tx, row: Claimed, outcome: Outcome): Promise<void> {
  const { startedAt, stamps } = outcome;
  const isNew = row.expires_at === null || stamps.some(({ stage }) => stage === "started");
  if (startedAt && isNew) await openClock(tx, row, startedAt);
  else if (endsFault(row, outcome)) await creditFault(tx, row);
}

/** Whether this account's first silence is this one: that goes back by itself, the next is decided by a person (G106). */
async function isPaidBack(tx: Tx, row: Claimed): Promise<boolean> {
  await lockAccount(tx, row.user_id);
  return !(await wasSilenceRefunded(tx, row));
}

function reasonOf({ ended_reason: reason }: Claimed): "cancelled" | "silent" | "not_delivered" {
  return reason === "cancelled" || reason === "silent" ? reason : "not_delivered";
}

function isToRunAgain({ created_at, desired }: Claimed): boolean {
  return created_at !== null && desired === "running";
}

/** The time that a machine's failure cost: from when it was at fault, or all that was banked (G106). */
function unpaidOf({ ended_reason, expires_at, fault_since, banked_seconds }: Claimed): number {
  if (!fault_since || (ended_reason !== "hardware" && ended_reason !== "expired")) return 0;
  return expires_at ? Math.max(0, (expires_at.getTime() - fault_since.getTime()) / 1000) : banked_seconds;
}

/** Nobody waits for it any more, or it is paid back: never shown as active, nor as stopped. */
async function giveUp(tx: Tx, row: Claimed, reason: "not_delivered" | "silent"): Promise<void> {
  await sql`
    update environments set desired = 'terminated', ended_reason = coalesce(ended_reason, ${reason}),
      claim = null, due_at = now()
    where id = ${row.id} and claim = ${row.claim}`.execute(tx);
}

/** What stood ready was begun before it was ordered; of this launch it took no time. */
async function stamp(tx: Tx, row: Claimed, { stamps }: Outcome): Promise<void> {
  const generation = row.run_token === null ? row.generation + 1 : row.generation;
  for (const { stage, at } of stamps)
    await sql`
      insert into launch_stages (environment_id, generation, stage, at)
      values (${row.id}, ${generation}, ${stage}, greatest(coalesce(${at ?? null}::timestamptz, now()), ${row.requested_at}::timestamptz))
      on conflict do nothing`.execute(tx);
  if (row.created_at === null && stamps.some(({ stage }) => stage === "ready"))
    await recordLaunchTime(tx, row.id, generation);
}

interface Quiet {
  readonly row: Claimed;
  readonly waitMs: number;
}

type Settle = (quiet: Quiet) => Promise<boolean>;

/**
 * Most passes find nothing new, of a launch or of a thousand that run: what several find at one moment is one statement.
 * Losing such a note costs one look: no disk wait. Answers false for a claim, or a wish, that is no longer the same. Locked
 * in the order of the ids, as everybody locks several: else two could wait for each other.
 */
export function settling(db: Db): Settle {
  return together(async (all: readonly Quiet[]) => {
    const rows = all.map(({ row: { id, claim, desired }, waitMs }) => ({ id, claim, wanted: desired, wait: waitMs }));
    const settled = await sql<{ id: string }>`
      with lazily as (select set_config('synchronous_commit', 'off', true)),
      quiet as (
        select e.id, said.wait from environments e
        join json_to_recordset(${JSON.stringify(rows)}) as said (id text, claim uuid, wanted text, wait float8)
          on e.id = said.id and e.claim = said.claim and e.desired = said.wanted
        order by e.id for update of e)
      update environments e set claim = null, attempts = 0, last_error = null, due_at = ${dueIn(sql`quiet.wait`)}
      from lazily, quiet where e.id = quiet.id returning e.id`.execute(db);
    const ids = new Set(settled.rows.map(({ id }) => id));
    return rows.map(({ id }) => ids.has(id));
  });
}

function isQuiet(row: Claimed, outcome: Outcome): boolean {
  return (
    row.status === outcome.status &&
    row.stage === outcome.stage &&
    row.stage_percent === outcome.stagePercent &&
    JSON.stringify(row.endpoint) === JSON.stringify(outcome.endpoint) &&
    outcome.stamps.length === 0 &&
    outcome.attempts === 0 &&
    !outcome.runOver &&
    !endsFault(row, outcome) &&
    (outcome.fault !== true || row.fault_since !== null) &&
    !(outcome.startedAt && row.created_at !== null && row.expires_at === null)
  );
}

/** Attempts: about half a minute of a host that does not answer. */
export const unreachableAfter = 5;

/**
 * Writes that a pass failed. Nothing is destroyed: a host out of reach, or one with other files than these, only makes the
 * status unknown after a while, from when on its time is not the owner's. What the driver refuses for good ends the attempt:
 * a run that is not ours to continue gives way to the next generation, and a pause that this machine cannot do is taken
 * back. What was asked for meanwhile does not wait for the back-off.
 */
export async function recordFailure(db: Db, row: Claimed, error: unknown): Promise<void> {
  const code = error instanceof DriverError ? error.code : undefined;
  const attempts = row.attempts + 1;
  const isRunning = row.status === "active" || row.status === "paused";
  const isOutOfReach = code === "unavailable" || code === "no_home";
  const isAway = isRunning && isOutOfReach && attempts >= unreachableAfter;
  const runOver = code === "refused" || code === "stale";
  const isStarting = (row.status === "pending" || row.status === "stopped") && row.desired === "running";
  const isDown = isStarting && isToRunAgain(row);
  await sql`
    update environments
    set attempts = ${attempts}, last_error = ${String(error).slice(0, 500)}, claim = null,
        status = case when ${isAway} then 'unknown' else status end,
        desired = case when ${code === "unsupported"} and desired = 'paused' then 'running' else desired end,
        run_token = case when ${runOver} then null else run_token end, warm = warm and not ${runOver},
        fault_since = case when ${isStarting || isAway} then coalesce(fault_since, now()) else fault_since end,
        down_since = case when ${isDown || isAway} then coalesce(down_since, now()) else down_since end,
        give_up_at = case when ${isDown} and down_since is null then now() + make_interval(mins => ${maxDownMinutes}) else give_up_at end,
        due_at = case when desired = ${row.desired} then ${dueIn(backoffMs(attempts))} else now() end
    where id = ${row.id} and claim = ${row.claim}`.execute(db);
}
