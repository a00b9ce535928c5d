import { planOf, type Status } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../database/database.ts";
import { beginActivity } from "./activity.ts";
import type { Claimed } from "./claims.ts";
import { giveBackDownTime } from "./gpu-faults.ts";
import { closeHome, remeasureHome, useHome } from "./homes.ts";
import { forgetIdleStop, tellIdleStopped } from "./idle-stop.ts";
import { releaseLeases } from "./leases.ts";
import { type Announce, resetNotice } from "./notices.ts";
import { closeSession, openSession } from "./sessions.ts";

/** Given by payments; called inside the transaction that records the change. Both lock the order before we lock the row. */
export interface Delivery {
  /** First answer. Undefined when the order no longer waits for delivery: the environment is then terminated instead. */
  delivered(tx: Tx, environment: Delivered): Promise<{ readonly bonusHours: number } | undefined>;
  /** The end of an environment that never answered; its container is confirmed gone, or its host does not answer either. */
  undelivered(tx: Tx, environment: Delivered, reason: "cancelled" | "not_delivered"): Promise<void>;
  /** The end of one that had answered. `unpaidSeconds` of its time could not be used for a fault of ours. */
  ended(tx: Tx, environment: Delivered, unpaidSeconds: number): Promise<void>;
}

interface Delivered {
  readonly id: string;
  readonly orderId: string;
  readonly userId: string;
}

export interface EffectParts {
  readonly announce: Announce;
  readonly retentionDays: number;
}

interface Times {
  readonly bonusHours: number;
  /** How long ago the run was seen to be gone: what was done since is not its owner's time. */
  readonly goneSeconds: number;
}

/**
 * What belongs to a change of status, in the transaction that records it (runtime.md 8). `row` is as it was before. A
 * restart that was taken back before it was seen has leased GPUs, though the status was `stopped` all the time: its
 * stage tells, and it is undone like any stop.
 */
export async function takeEffect(
  tx: Tx,
  parts: EffectParts,
  row: Claimed,
  status: Status,
  { bonusHours, goneSeconds }: Times,
): Promise<void> {
  const unfinished = status === "stopped" && (row.stage !== null || row.run_token !== null);
  if (status === row.status && !unfinished) return;
  if (status !== "terminated") await giveBackDownTime(tx, row);
  if (status === "active") await enterActive(tx, parts, row, bonusHours);
  if (status === "stopped") await enterStopped(tx, parts, row, goneSeconds);
  if (status === "terminated") await enterTerminated(tx, parts, row);
}

async function enterActive(tx: Tx, { announce }: EffectParts, row: Claimed, bonusHours: number): Promise<void> {
  const { id, user_id: userId, subdomain } = row;
  await openSession(tx, id);
  await beginActivity(tx, id);
  await sql`update environments set ${forgetIdleStop} where id = ${id}`.execute(tx);
  if (row.created_at && row.expires_at) return;
  await useHome(tx, row);
  const seconds = row.created_at ? row.banked_seconds : (row.duration_hours + bonusHours) * 3600;
  await sql`
    update environments
    set created_at = coalesce(created_at, now()), expires_at = now() + make_interval(secs => ${seconds}), banked_seconds = 0,
        due_at = least(due_at, now() + make_interval(secs => ${seconds})) where id = ${id}`.execute(tx);
  await resetNotice(tx, id);
  if (row.created_at) return;
  const title = `${subdomain} is ready`;
  const body = "JupyterLab answers. Its time runs from now on.";
  await announce(tx, { userId, cause: `ready:${id}`, title, body, link: `/environments/${id}` });
}

/**
 * Hourly: the time left is banked and the GPUs go, and what was suspected of them with them; monthly: all of it stays, and
 * the clock runs (G2, G24). Where nothing is left the end stays as it is, and is the next thing that happens.
 */
async function enterStopped(tx: Tx, { announce }: EffectParts, row: Claimed, goneSeconds: number): Promise<void> {
  const keepsGpus = planOf(row.duration_hours) === "monthly";
  await closeSession(tx, row.id, row.idle_stopped ? "idle" : "stopped");
  await remeasureHome(tx, row);
  await revokeGrants(tx, row.id);
  await sql`
    update environments set run_token = null, endpoint = null, stage = null, ${forgetIdleStop},
      faulty_generation = case when ${keepsGpus} then faulty_generation end
    where id = ${row.id}`.execute(tx);
  const bankedSeconds = keepsGpus ? null : await bankTime(tx, row.id, goneSeconds);
  if (row.idle_stopped) await tellIdleStopped(tx, announce, row, bankedSeconds);
}

async function bankTime(tx: Tx, id: string, goneSeconds: number): Promise<number> {
  await releaseLeases(tx, "environment", id);
  const left = sql<number>`extract(epoch from expires_at - now()) + ${goneSeconds}::float8`;
  const { rows } = await sql<{ banked_seconds: number }>`
    update environments
    set banked_seconds = floor(${left}), expires_at = null, notice = ''
    where id = ${id} and ${left} > 0 returning banked_seconds`.execute(tx);
  return rows[0]?.banked_seconds ?? 0;
}

async function enterTerminated(tx: Tx, { announce, retentionDays }: EffectParts, row: Claimed): Promise<void> {
  await closeSession(tx, row.id, row.ended_reason ?? "terminated");
  await revokeGrants(tx, row.id);
  await releaseLeases(tx, "environment", row.id);
  await sql`
    update environments set run_token = null, endpoint = null, stage = null, stage_percent = null, terminated_at = now(),
      idle_stop_at = null
    where id = ${row.id}`.execute(tx);
  await tx.deleteFrom("activity").where("environment_id", "=", row.id).execute();
  const keptDays = await closeHome(tx, row, retentionDays);
  if (row.ended_reason !== "expired" || keptDays === 0) return;
  await announce(tx, {
    userId: row.user_id,
    cause: `ended:${row.id}`,
    title: `${row.subdomain} has ended`,
    body: `Its time is over. Its files are kept for ${keptDays} days and come back with a new environment of the same name.`,
    link: `/environments/${row.id}`,
  });
}

/** The gateway's cookies of a run end with it (runtime.md 9). */
async function revokeGrants(tx: Tx, environmentId: string): Promise<void> {
  await sql`update grants set revoked_at = now() where environment_id = ${environmentId} and revoked_at is null`.execute(
    tx,
  );
}
