import { sql } from "kysely";
import type { Db } from "../../../database/database.ts";
import { backoffMs, finish, inMs } from "../../../database/work-queue.ts";
import { DriverError } from "../../../drivers/driver.ts";
import { maxDownMinutes } from "../../time/max-down-minutes.ts";
import { waitAfter } from "../wait-columns.ts";
import { dueIn, environmentQueue, type LeasedEnvironment } from "../work-lease.ts";

/** Attempts: about half a minute of a host that does not respond. */
export const unreachableAfter = 5;

/**
 * Writes that a pass failed. Nothing is destroyed. An unreachable host, or one whose files are missing, makes the status
 * `unknown` after a while, and from then on the time is not the owner's. A refusal of the driver ends the attempt: a run
 * that cannot be continued gives way to the next generation, and an unsupported pause is undone. A state that was
 * requested meanwhile does not wait for the back-off.
 */
export async function writeFailure(db: Db, row: LeasedEnvironment, error: unknown): Promise<void> {
  const code = error instanceof DriverError ? error.code : undefined;
  const attempts = row.attempts + 1;
  const isRunning = row.status === "active" || row.status === "paused";
  const isUnreachable = isRunning && (code === "unavailable" || code === "no_home") && attempts >= unreachableAfter;
  const runEnded = code === "refused" || code === "stale";
  const isStarting = (row.status === "pending" || row.status === "stopped") && row.desired === "running";
  const isDown = isStarting && row.created_at !== null;
  const values = {
    attempts,
    last_error: String(error).slice(0, 500),
    ...(isUnreachable && { status: "unknown" as const }),
    desired: sql<"running">`case when ${code === "unsupported"} and desired = 'paused' then 'running' else desired end`,
    ...(runEnded && { run_token: null, warm: false }),
    ...waitAfter(error, isStarting),
    ...((isStarting || isUnreachable) && { fault_since: sql<Date>`coalesce(fault_since, now())` }),
    ...((isDown || isUnreachable) && { down_since: sql<Date>`coalesce(down_since, now())` }),
    ...(isDown && {
      give_up_at: sql<Date>`case when down_since is null then ${inMs(maxDownMinutes * 60_000)} else give_up_at end`,
    }),
    due_at: sql<Date>`case when desired = ${row.desired} then ${dueIn(backoffMs(attempts))} else now() end`,
  };
  await finish(db, environmentQueue, row, values);
}
