import { type DoneMode, type DoneNotice, planOf } from "@berth/contract";
import { sql } from "kysely";
import type { Db, Tx } from "../../database/database.ts";
import type { Environment } from "../environment.ts";
import { lockOwned, type Owned, refusal } from "../lock-owned.ts";
import { type Announce, instant, timeText } from "../notice.ts";
import { beginActivity } from "./activity.ts";
import { type Look, nextQuiet } from "./next-quiet.ts";

/** In an update of environments: nobody waits for the end of the work any more. */
export const clearDoneNotice = sql`done_notice = null, done_ran = false, done_quiet_since = null`;

export interface RunLook {
  readonly id: string;
  /** Of the run that was looked at: a look at an older one says nothing about this one. */
  readonly generation: number;
  readonly look: Look;
}

/**
 * Counts a look at a run whose owner waits for its end, by the database's clock. The notice, the stop and the end of the wait
 * are one transaction under the row's lock, so there is one notice, whoever else looks or acts at that moment (G360).
 */
export async function recordLook(db: Db, announce: Announce, { id, generation, look }: RunLook): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const { rows } = await sql<Environment & { readonly now: Date }>`
      select *, clock_timestamp() as now from environments
      where id = ${id} and generation = ${generation} and status = 'active' and desired = 'running'
      and done_notice is not null for update`.execute(tx);
    const [row] = rows;
    if (!row) return;
    const before = { hasRun: row.done_ran, quietSince: row.done_quiet_since };
    const { hasRun, quietSince, isDone } = nextQuiet(before, look, row.now);
    if (isDone && quietSince) return await announceDone(tx, announce, row, quietSince);
    if (hasRun === before.hasRun && quietSince?.getTime() === before.quietSince?.getTime()) return;
    const change = { done_ran: hasRun, done_quiet_since: quietSince };
    await tx.updateTable("environments").set(change).where("id", "=", id).execute();
  });
}

async function announceDone(tx: Tx, announce: Announce, row: Environment, quietSince: Date): Promise<void> {
  const { id, user_id: userId, subdomain, done_notice: mode } = row;
  const stop = mode === "stop" ? sql`, desired = 'stopped', stop_reason = null, due_at = now()` : sql``;
  await sql`update environments set ${clearDoneNotice}${stop} where id = ${id}`.execute(tx);
  const ended = `No cell, no program and no load since ${instant(quietSince)}.`;
  await announce(tx, {
    userId,
    cause: `done:${id}:${quietSince.toISOString()}`,
    title:
      mode === "stop" ? `Nothing runs any more in ${subdomain}, so it stops` : `Nothing runs any more in ${subdomain}`,
    body: `${ended} ${mode === "stop" ? stopText(row) : "It stays as it is and its clock goes on. On its page you can stop it."}`,
    link: `/environments/${id}`,
  });
}

function stopText({ duration_hours }: Environment): string {
  const time =
    planOf(duration_hours) === "monthly"
      ? timeText(null)
      : "Its clock stands still, and the time that is left is kept.";
  return `Its files are kept, what was in memory is gone. ${time}`;
}

/** Switched on, it waits for a first piece of work. With another mode it goes on waiting, and what has run counts. */
export async function setDoneNotice(db: Db, owned: Owned, mode: DoneMode | null): Promise<DoneNotice> {
  return await db.transaction().execute(async (tx) => {
    const row = await lockOwned(tx, owned);
    const { id, status, desired, done_notice: before } = row;
    const runs = (status === "active" || status === "paused") && (desired === "running" || desired === "paused");
    if (mode !== null && !runs) throw refusal(row, "set");
    if (mode === null) await sql`update environments set ${clearDoneNotice} where id = ${id}`.execute(tx);
    else await tx.updateTable("environments").set({ done_notice: mode }).where("id", "=", id).execute();
    if (runs) await beginActivity(tx, id);
    return { mode, has_run: mode !== null && before !== null && row.done_ran };
  });
}

export function doneNoticeOf({ done_notice: mode, done_ran: hasRun }: Environment): DoneNotice {
  return { mode, has_run: hasRun };
}
