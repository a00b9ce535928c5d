import { type IdleMinutes, type IdleStop, idleSnoozeMinutes, idleWarningMinutes } from "@berth/contract";
import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import type { Db, Tx } from "../../database/database.ts";
import type { Environment } from "../environment.ts";
import { lockOwned, type Owned, refusal } from "../lock-owned.ts";
import { type Announce, instant, timeText } from "../notice.ts";
import { beginActivity, gapSeconds } from "./activity.ts";

/** Activity just before the end may be recorded a moment after it. */
const graceSeconds = 30;

/** In an update of environments: no stop is announced and none is snoozed. */
export const clearIdleStop = sql`idle_stop_at = null, idle_snoozed_until = null`;

const warning = sql`make_interval(mins => ${idleWarningMinutes})`;

/**
 * Announces a coming idle stop, takes it back, or requests it, by the database's clock. Nothing stops without recent
 * measurements: an unreachable host, a late worker and a clock that jumped all leave it running. The environment is locked
 * first, so an action of its owner comes before and is seen, or after and wins.
 */
export async function keepIdleStop(db: Db, announce: Announce, id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<Environment>`
      select * from environments
      where id = ${id} and status = 'active' and desired = 'running'
      and idle_minutes is not null for update`.execute(tx);
    const row = rows[0];
    if (!row) return;
    const due = await dueStep(tx, id);
    if (due?.step === "warn") await warn(tx, announce, row, due.lastBusyAt);
    if (due?.step === "go_on") await sql`update environments set idle_stop_at = null where id = ${id}`.execute(tx);
    if (due?.step === "stop")
      await sql`
        update environments set desired = 'stopped', stop_reason = 'idle', ${clearIdleStop},
          due_at = now()
        where id = ${id}`.execute(tx);
  });
}

interface Due {
  readonly step: "warn" | "go_on" | "stop" | null;
  readonly lastBusyAt: Date;
}

/** A stop follows its notice by ten minutes, unless something was done since the notice. */
async function dueStep(tx: Tx, id: string): Promise<Due | undefined> {
  const { rows } = await sql<Due>`
    select a.last_busy_at as "lastBusyAt", case
      when a.looked_at < now() - make_interval(secs => ${gapSeconds}) then null
      when e.idle_stop_at is null then case
        when greatest(a.last_busy_at + make_interval(mins => e.idle_minutes), e.idle_snoozed_until) <= now() + ${warning} then 'warn' end
      when a.last_busy_at > e.idle_stop_at - ${warning} then 'go_on'
      when e.idle_stop_at <= now() - make_interval(secs => ${graceSeconds}) then 'stop' end as step
    from environments e join activity a on a.environment_id = e.id where e.id = ${id}`.execute(tx);
  return rows[0];
}

type Owner = Pick<Environment, "id" | "user_id" | "subdomain">;

async function warn(tx: Tx, announce: Announce, { id, user_id, subdomain }: Owner, lastBusyAt: Date): Promise<void> {
  const { idle_stop_at: at } = await tx
    .updateTable("environments")
    .set({ idle_stop_at: sql<Date>`now() + ${warning}` })
    .where("id", "=", id)
    .returning("idle_stop_at")
    .executeTakeFirstOrThrow();
  if (!at) return;
  await announce(tx, {
    userId: user_id,
    cause: `idle:${id}:${at.toISOString()}`,
    title: `${subdomain} is idle and stops in ${idleWarningMinutes} minutes`,
    body: `Nothing has been done in it since ${instant(lastBusyAt)}. It stops on ${instant(at)} unless something runs before; an open tab alone does not count. On its page you can snooze that by an hour.`,
    link: `/environments/${id}`,
  });
}

/** After the stop. `bankedSeconds` is null where the clock runs on (G2). */
export async function announceIdleStopped(
  tx: Tx,
  announce: Announce,
  row: Environment,
  bankedSeconds: number | null,
): Promise<void> {
  const { id, user_id: userId, subdomain, generation } = row;
  await announce(tx, {
    userId,
    cause: `idle-stopped:${id}:${generation}`,
    title: `${subdomain} was stopped because it was idle`,
    body: `Its files are kept, what was in memory is gone. ${timeText(bankedSeconds)}`,
    link: `/environments/${id}`,
  });
}

/** After how many idle minutes it stops, null for never. Its idle time starts again, because its owner is there. */
export async function setIdleStop(db: Db, owned: Owned, minutes: IdleMinutes | null): Promise<IdleStop> {
  return await db.transaction().execute(async (tx) => {
    const row = await lockOwned(tx, owned);
    if (row.desired === "terminated") throw refusal(row, "set");
    await sql`update environments set idle_minutes = ${minutes}, ${clearIdleStop} where id = ${row.id}`.execute(tx);
    await beginActivity(tx, row.id);
    return await idleStopOf(tx, row.id);
  });
}

/** Puts the announced stop off by an hour. A second call changes nothing. */
export async function snoozeIdleStop(db: Db, owned: Owned): Promise<IdleStop> {
  return await db.transaction().execute(async (tx) => {
    const row = await lockOwned(tx, owned);
    const { rows } = await sql`
      update environments set idle_stop_at = null, idle_snoozed_until = case when idle_stop_at is null
          then idle_snoozed_until else greatest(idle_stop_at, now()) + make_interval(mins => ${idleSnoozeMinutes}) end
      where id = ${row.id} and desired = 'running' and (idle_stop_at is not null or idle_snoozed_until > now())
      returning id`.execute(tx);
    if (rows.length === 0)
      throw new AppError("action_not_allowed", `${row.subdomain} is not about to stop for being idle`);
    return await idleStopOf(tx, row.id);
  });
}

async function idleStopOf(tx: Tx, id: string): Promise<IdleStop> {
  const row = await tx
    .selectFrom("environments")
    .leftJoin("activity", "environment_id", "id")
    .where("id", "=", id)
    .select(["idle_minutes", "idle_stop_at", "idle_snoozed_until", "last_busy_at"])
    .executeTakeFirstOrThrow();
  return idleStopOn(row, row.last_busy_at);
}

type IdleColumns = Pick<Environment, "idle_minutes" | "idle_stop_at" | "idle_snoozed_until">;

/** The idle stop as its owner sees it. */
export function idleStopOn(row: IdleColumns, lastBusyAt: Date | null): IdleStop {
  return {
    minutes: row.idle_minutes,
    stops_at: row.idle_stop_at?.toISOString() ?? null,
    snoozed_until: row.idle_snoozed_until?.toISOString() ?? null,
    last_busy_at: lastBusyAt?.toISOString() ?? null,
  };
}
