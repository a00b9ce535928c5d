import { type Action, actionsByStatus, cancelsPerDay, type Desired, mayTerminate } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";
import { beginActivity } from "../activity/activity.ts";
import type { Environment } from "../environment.ts";
import { placeOf } from "../homes/home-records.ts";
import { shortageText } from "../leases/free-times.ts";
import { leaseGpus, leasesOf, releaseLeases } from "../leases/gpu-leases.ts";
import { lockOwned, type Owned, refusal } from "../lock-owned.ts";
import { movePercent, movingText } from "../move-percent.ts";
import { lockAccount } from "../reconciler/silence.ts";
import { bankTime } from "../time/bank-time.ts";

/**
 * Writes the desired state; the reconciler carries it out. Idempotent (G25). A stopped hourly plan
 * has no GPUs: it leases them first, and is refused with the next free time where there are none. A start may leave the
 * settings of the home out (G106); a resume keeps those of its start.
 */
export async function act(db: Db, owned: Owned, action: Action, withoutSettings = false): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await lockOwned(tx, owned);
    const desired = actionsByStatus[row.status][action];
    if (!desired || row.desired === "terminated") throw refusal(row, action);
    if (action === "pause") await requirePause(tx, row);
    const starting = row.status === "stopped" && desired === "running";
    if (starting) await requireFiles(tx, row);
    if (starting) await leaseAgain(tx, row);
    await want(tx, row, { desired, ...(starting && { stage: "placed", without_settings: withoutSettings }) });
    // The owner is there, so it is not stopped for being idle a moment later.
    await beginActivity(tx, row.id);
  });
}

/**
 * Ends an environment, with its name typed as confirmation (G27). One whose machine is lost is paid back from then on, and
 * does not wait for the machine (G181).
 */
export async function terminate(db: Db, owned: Owned, confirm: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await lockOwned(tx, owned);
    if (confirm !== row.subdomain) throw new AppError("invalid_request", "Type the environment's name to confirm");
    if (row.desired === "terminated") return;
    if (!mayTerminate[row.status] && !row.lost_since) throw refusal(row, "terminate");
    await want(tx, row, { desired: "terminated", ended_reason: row.lost_since ? "hardware" : "terminated" });
  });
}

/** Cancels a launch before JupyterLab was ever ready; from then on its time runs and no refund is automatic (G75). */
export async function cancel(db: Db, owned: Owned): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await lockAccount(tx, owned.userId);
    const row = await lockOwned(tx, owned);
    if (row.ended_reason === "cancelled") return;
    if (row.created_at !== null || row.desired !== "running") throw refusal(row, "cancel");
    await checkCancels(tx, row);
    await want(tx, row, { desired: "terminated", ended_reason: "cancelled" });
  });
}

/**
 * A cancelled launch whose container ran cost GPU time and is refunded all the same, so often a day (G105). A launch that
 * hangs before its container can always be cancelled.
 */
async function checkCancels(tx: Tx, { id, user_id, subdomain }: Environment): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from environments e
    where user_id = ${user_id} and (id = ${id} or (ended_reason = 'cancelled' and requested_at > now() - interval '1 day'))
      and exists (select from launch_stages where environment_id = e.id and stage = 'started')`.execute(tx);
  if (rows.length <= cancelsPerDay || rows.every((row) => row.id !== id)) return;
  throw new AppError(
    "action_not_allowed",
    `You have cancelled ${cancelsPerDay} launches today after their containers had started, so ${subdomain} goes on: its time begins when JupyterLab answers. If it does not answer within ten minutes it is stopped by itself, and its payment is not lost`,
  );
}

/** Not every machine can freeze a run, and a stop would lose what is in memory. */
async function requirePause(tx: Tx, { host_id, subdomain }: Environment): Promise<void> {
  const host = await tx.selectFrom("hosts").where("id", "=", host_id).select("pause").executeTakeFirst();
  if (host?.pause) return;
  throw new AppError(
    "action_not_allowed",
    `The machine of ${subdomain} cannot pause. Stop it instead: its files are kept`,
  );
}

/** Files that move to another host are used by nobody until they are there (G196). */
async function requireFiles(tx: Tx, { id, subdomain }: Environment): Promise<void> {
  const { rows } = await sql<{ percent: number | null }>`
    select ${movePercent} as percent from environments e where id = ${id}`.execute(tx);
  const percent = rows[0]?.percent ?? null;
  if (percent !== null) throw new AppError("action_not_allowed", movingText(subdomain, percent));
}

/** A paid environment comes before the queue, but never takes a reservation. */
async function leaseAgain(tx: Tx, row: Environment): Promise<void> {
  const { id, gpu_count: gpuCount } = row;
  if ((await leasesOf(tx, "environment", id)).length === gpuCount) return;
  await releaseLeases(tx, "environment", id);
  const place = await placeOf(tx, row);
  const leased = await leaseGpus(tx, { holderKind: "environment", holderId: id, gpuCount, place, holdUntil: null });
  if (!leased) throw new AppError("out_of_stock", await shortageText(tx, gpuCount, place));
}

/**
 * Ends all environments of a user, in the transaction that deletes or suspends the account (G71, G119); those that were
 * never ready are refunded, and what an `operator` ends is paid back by its unused share. Returns how many.
 */
export async function endAll(tx: Tx, userId: string, by: "terminated" | "operator" = "terminated"): Promise<number> {
  const rows = await lockAll(tx, userId);
  for (const row of rows)
    await want(tx, row, { desired: "terminated", ended_reason: row.created_at === null ? "cancelled" : by });
  return rows.length;
}

/**
 * Stops all environments of a user who is suspended, with their time banked, that of monthly plans too (G119). Launches
 * that were never ready are cancelled and refunded. Returns how many.
 */
export async function stopAll(tx: Tx, userId: string): Promise<number> {
  const rows = (await lockAll(tx, userId)).filter(({ status, expires_at }) => status !== "stopped" || expires_at);
  for (const row of rows) {
    if (row.created_at === null) await want(tx, row, { desired: "terminated", ended_reason: "cancelled" });
    else await want(tx, row, { desired: "stopped", stop_reason: "suspended" });
    if (row.status === "stopped") await bankTime(tx, row.id);
  }
  return rows.length;
}

/** Stops a running environment as its owner could; throws where that is not possible now. The caller has locked the row. */
export async function stopByOperator(tx: Tx, row: Environment): Promise<void> {
  if (!actionsByStatus[row.status].stop || row.desired === "terminated") throw refusal(row, "stop");
  await want(tx, row, { desired: "stopped" });
}

/** Ends an environment (G27); `refund` pays its unused time back (G108), as always before it was ever ready. */
export async function endByOperator(tx: Tx, row: Environment, refund: boolean): Promise<void> {
  const ended_reason = row.created_at === null ? "cancelled" : refund ? "operator" : "terminated";
  await want(tx, row, { desired: "terminated", ended_reason });
}

/** Ending ones are locked too: their end is written before and seen here, or later and sees what the caller writes. */
async function lockAll(tx: Tx, userId: string): Promise<readonly Environment[]> {
  const { rows } = await sql<Environment>`
    select * from environments where user_id = ${userId} and status <> 'terminated' order by id for no key update`.execute(
    tx,
  );
  return rows.filter(({ desired }) => desired !== "terminated");
}

interface Wanted {
  readonly desired: Desired;
  readonly stage?: string;
  readonly without_settings?: boolean;
  readonly ended_reason?: "terminated" | "cancelled" | "operator" | "hardware";
  readonly stop_reason?: "suspended";
}

/** Due now. A worker that has the row detects the change when it writes. */
async function want(tx: Tx, { id, status }: Environment, wanted: Wanted): Promise<void> {
  const staysStopped = status === "stopped" && wanted.desired === "stopped";
  await tx
    .updateTable("environments")
    .set({
      ...(!staysStopped && { stop_reason: null }),
      ...wanted,
      due_at: sql`now()`,
    })
    .where("id", "=", id)
    .execute();
}
