import { planOf, type Status } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../../../database/database.ts";
import { beginActivity } from "../../activity/activity.ts";
import { clearDoneNotice } from "../../activity/done-notice.ts";
import { announceIdleStopped, clearIdleStop } from "../../activity/idle-stop.ts";
import { reserveFormerName } from "../../allocation/former-names.ts";
import { closeHome, markHomeUsed, remeasureHome } from "../../homes/home-records.ts";
import { releaseLeases } from "../../leases/gpu-leases.ts";
import type { Announce } from "../../notice.ts";
import { bankTime } from "../../time/bank-time.ts";
import { resetNotice } from "../../time/expiry-notices.ts";
import { closeClock } from "../../time/rental-clock.ts";
import { closeSession, openSession } from "../../time/run-sessions.ts";
import { announceSilent } from "../silence.ts";
import type { LeasedEnvironment } from "../work-lease.ts";

/** Payments provides this. Called in the transaction that writes the change; it locks the order before the row. */
export interface Delivery {
  /** First readiness. Undefined when the order no longer waits for delivery: the environment is then terminated. */
  delivered(tx: Tx, environment: Delivered): Promise<{ readonly bonusHours: number } | undefined>;
  /** The end of an environment that was never ready; its container is confirmed gone, or its host is unreachable too. */
  undelivered(tx: Tx, environment: Delivered, reason: "cancelled" | "not_delivered" | "silent"): Promise<void>;
  /**
   * JupyterLab was never ready although its container ran, and a silent launch of this account was refunded before: a
   * person decides about the money, and the owner may start it again (G106). Undefined when the order no longer waits.
   */
  kept(tx: Tx, environment: Delivered): Promise<{ readonly bonusHours: number } | undefined>;
  /** The end of one that was ready. A fault of ours kept its owner from using `unpaidSeconds` of its time. */
  ended(tx: Tx, environment: Delivered, unpaidSeconds: number): Promise<void>;
}

interface Delivered {
  readonly id: string;
  readonly orderId: string;
  readonly userId: string;
}

export interface StatusHookDeps {
  readonly announce: Announce;
  readonly retentionDays: number;
}

interface Times {
  readonly bonusHours: number;
  /** Seconds since the run was gone: they are not its owner's time. */
  readonly goneSeconds: number;
}

/**
 * The hooks of a status change, in the transaction that writes it (docs/internals/runtime.md). `row` is as it was before.
 * A start that was taken back before it began has leased GPUs although the status was `stopped` all the time: its stage
 * shows that, and it is undone like any stop.
 */
export async function onStatusChange(
  tx: Tx,
  deps: StatusHookDeps,
  row: LeasedEnvironment,
  status: Status,
  { bonusHours, goneSeconds }: Times,
): Promise<void> {
  const isUndoneStart = status === "stopped" && (row.stage !== null || row.run_token !== null);
  if (status === row.status && !isUndoneStart) return;
  if (status === "active") await enterActive(tx, deps, row, bonusHours);
  if (status === "stopped") await enterStopped(tx, deps, row, goneSeconds);
  if (status === "terminated") await enterTerminated(tx, deps, row);
}

async function enterActive(
  tx: Tx,
  { announce }: StatusHookDeps,
  row: LeasedEnvironment,
  bonusHours: number,
): Promise<void> {
  const { id, user_id: userId, subdomain } = row;
  await openSession(tx, id);
  await beginActivity(tx, id);
  await markHomeUsed(tx, row);
  await closeClock(tx, id);
  await sql`update environments set ${clearIdleStop}, stop_reason = null where id = ${id}`.execute(tx);
  if (row.lost_since) await announceBack(tx, announce, row, row.lost_since);
  if (row.created_at) return;
  const seconds = (row.duration_hours + bonusHours) * 3600;
  await sql`
    update environments
    set created_at = now(), expires_at = now() + make_interval(secs => ${seconds}),
        due_at = least(due_at, now() + make_interval(secs => ${seconds})) where id = ${id}`.execute(tx);
  await resetNotice(tx, id);
  const title = `${subdomain} is ready`;
  const body = "JupyterLab answers. Its time runs from now on.";
  await announce(tx, { userId, cause: `ready:${id}`, title, body, link: `/environments/${id}` });
}

/** After the machine was lost (G181). */
async function announceBack(tx: Tx, announce: Announce, row: LeasedEnvironment, lostSince: Date): Promise<void> {
  await announce(tx, {
    userId: row.user_id,
    cause: `back:${row.id}:${lostSince.toISOString()}`,
    title: `${row.subdomain} runs again`,
    body: "Its machine had failed. Your files are there, and the time without it was added at its end.",
    link: `/environments/${row.id}`,
  });
}

/**
 * An hourly plan banks its time, frees its GPUs and forgets a suspected fault of them. A monthly plan keeps both and its
 * clock runs on (G2, G24), unless its files are missing (G111) or its owner is suspended (G119). Without time left the end stays as it is and comes next.
 */
async function enterStopped(
  tx: Tx,
  { announce }: StatusHookDeps,
  row: LeasedEnvironment,
  goneSeconds: number,
): Promise<void> {
  const { id, stop_reason: reason } = row;
  const keepsGpus = planOf(row.duration_hours) === "monthly";
  await closeSession(tx, id, reason ?? "stopped");
  await remeasureHome(tx, row);
  await revokeGrants(tx, id);
  await closeClock(tx, id);
  await sql`
    update environments set run_token = null, endpoint = null, stage = null, ${clearIdleStop}, ${clearDoneNotice},
      faulty_generation = case when ${keepsGpus} then faulty_generation end
    where id = ${id}`.execute(tx);
  if (!keepsGpus) await releaseLeases(tx, "environment", id);
  const bankedSeconds =
    keepsGpus && reason !== "no_home" && reason !== "suspended" ? null : await bankTime(tx, id, goneSeconds);
  if (reason === "idle") await announceIdleStopped(tx, announce, row, bankedSeconds);
  if (reason === "silent") await announceSilent(tx, announce, row, bankedSeconds);
}

async function enterTerminated(
  tx: Tx,
  { announce, retentionDays }: StatusHookDeps,
  row: LeasedEnvironment,
): Promise<void> {
  await closeSession(tx, row.id, row.ended_reason ?? "terminated");
  await revokeGrants(tx, row.id);
  await releaseLeases(tx, "environment", row.id);
  await sql`
    update environments set run_token = null, endpoint = null, stage = null, stage_percent = null, ${clearIdleStop},
      ${clearDoneNotice}, terminated_at = now(), clock_from = null, banked_until = null
    where id = ${row.id}`.execute(tx);
  await tx.deleteFrom("activity").where("environment_id", "=", row.id).execute();
  const keptDays = await closeHome(tx, row, retentionDays);
  if (row.created_at !== null) await reserveFormerName(tx, row);
  if (row.ended_reason !== "expired" || keptDays === 0) return;
  await announce(tx, {
    userId: row.user_id,
    cause: `ended:${row.id}`,
    title: `${row.subdomain} has ended`,
    body: `Its time is over. Its files are kept for ${keptDays} days and come back with a new environment of the same name.`,
    link: `/environments/${row.id}`,
  });
}

/** The gateway's cookies of a run end with it (docs/internals/gateway.md). */
async function revokeGrants(tx: Tx, environmentId: string): Promise<void> {
  await sql`
    update grants set revoked_at = now()
    where environment_id = ${environmentId} and revoked_at is null`.execute(tx);
}
