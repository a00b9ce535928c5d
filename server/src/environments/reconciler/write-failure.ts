import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { DriverError } from "../../drivers/driver.ts";
import { backoffMs } from "../backoff-ms.ts";
import { maxDownMinutes } from "../time/max-down-minutes.ts";
import { type Claimed, dueIn } from "./work-lease.ts";

/** Attempts: about half a minute of a host that does not respond. */
export const unreachableAfter = 5;

/**
 * Writes that a pass failed. Nothing is destroyed. An unreachable host, or one whose files are missing, makes the status
 * `unknown` after a while, and from then on the time is not the owner's. A refusal of the driver ends the attempt: a run
 * that cannot be continued gives way to the next generation, and a pause that this machine cannot do is taken back. What
 * was asked for meanwhile does not wait for the back-off.
 */
export async function writeFailure(db: Db, row: Claimed, error: unknown): Promise<void> {
  const code = error instanceof DriverError ? error.code : undefined;
  const attempts = row.attempts + 1;
  const isRunning = row.status === "active" || row.status === "paused";
  const isUnreachable = isRunning && (code === "unavailable" || code === "no_home") && attempts >= unreachableAfter;
  const runEnded = code === "refused" || code === "stale";
  const isStarting = (row.status === "pending" || row.status === "stopped") && row.desired === "running";
  const isDown = isStarting && row.created_at !== null;
  await sql`
    update environments
    set attempts = ${attempts}, last_error = ${String(error).slice(0, 500)}, claim = null,
        status = case when ${isUnreachable} then 'unknown' else status end,
        desired = case when ${code === "unsupported"} and desired = 'paused' then 'running' else desired end,
        run_token = case when ${runEnded} then null else run_token end, warm = warm and not ${runEnded},
        fault_since = case when ${isStarting || isUnreachable} then coalesce(fault_since, now()) else fault_since end,
        down_since = case when ${isDown || isUnreachable} then coalesce(down_since, now()) else down_since end,
        give_up_at = case when ${isDown} and down_since is null then now() + make_interval(mins => ${maxDownMinutes}) else give_up_at end,
        due_at = case when desired = ${row.desired} then ${dueIn(backoffMs(attempts))} else now() end
    where id = ${row.id} and claim = ${row.claim}`.execute(db);
}
