import { type RawBuilder, sql } from "kysely";
import type { Db, RowOf } from "../../database/database.ts";
import { fetchDue, type Leased, nextDueMs, workQueue } from "../../database/work-queue.ts";
import { maxDownMinutes } from "../time/max-down-minutes.ts";
import { isSilent } from "./silence.ts";

/** A short lease, because the rows of a killed worker wait this long; a working one renews it. */
export const environmentQueue = workQueue("environments", ["id"], 10);

export type LeasedEnvironment = Leased<RowOf<"environments">>;

/**
 * Leases due rows and decides what is due by time, in the same statement, by the database's clock and only while it can be
 * trusted (`clockAgrees`). An expired environment, one that was not ready in time and one that could not be brought back
 * become `terminated` (docs/internals/money.md); one whose container ran while JupyterLab was silent is only stopped (G106).
 * What ran before an outage of Berth is looked at once before its time counts as over: it may be gone (G347).
 * After an outage longer than the deadline a launch still gets half of its time, from its first attempt on.
 */
export async function fetchEnvironments(
  db: Db,
  hostIds: readonly string[],
  limit: number,
  clockAgrees: RawBuilder<boolean>,
): Promise<readonly LeasedEnvironment[]> {
  const isOver = sql`(${clockAgrees} and desired = 'running' and give_up_at <= now())`;
  const isLate = sql`(created_at is null and first_attempt_at is not null and ${isOver})`;
  const isLost = sql`(down_since is not null and status <> 'unknown' and ${isOver})`;
  const isOverlooked = sql`(status = 'active' and fault_since is null and due_at < now() - interval '1 minute')`;
  return await fetchDue(db, environmentQueue, {
    where: ofHosts(hostIds),
    limit,
    compute: {
      expired: sql<boolean>`(${clockAgrees} and lost_since is null and not ${isOverlooked} and coalesce(expires_at <= now(), false))`,
      failure: sql<string | null>`case when (${isLate} or ${isLost}) and ${isSilent} then 'silent'
        when ${isLost} then 'hardware' when ${isLate} then 'not_delivered' end`,
    },
    set: {
      first_attempt_at: sql`coalesce(first_attempt_at, now())`,
      give_up_at: sql`case when first_attempt_at is null
        then greatest(give_up_at, now() + (give_up_at - requested_at) / 2) else give_up_at end`,
      desired: sql`case when due.expired or due.failure <> 'silent' then 'terminated'
        when due.failure = 'silent' then 'stopped' else desired end`,
      stop_reason: sql`case when not due.expired and due.failure = 'silent' then 'silent' else stop_reason end`,
      fault_since: sql`case when due.failure = 'hardware' then coalesce(fault_since, down_since) else fault_since end`,
      ended_reason: sql`case when ended_reason is not null then ended_reason
        when due.expired then 'expired' when due.failure <> 'silent' then due.failure
        when desired = 'terminated' then 'terminated' end`,
    },
    isAsync: true,
  });
}

/** Milliseconds until the next row of these hosts is due. */
export async function nextEnvironmentMs(db: Db, hostIds: readonly string[]): Promise<number> {
  return await nextDueMs(db, environmentQueue, ofHosts(hostIds));
}

function ofHosts(hostIds: readonly string[]) {
  return sql`status <> 'terminated' and host_id = any(${[...hostIds]})`;
}

/** After an outage of our own, what was down gets half of its time again before it is given up. */
export async function grantTime(db: Db, hostIds: readonly string[]): Promise<void> {
  await sql`
    with down as (
      select id from environments where down_since is not null and status <> 'terminated' and host_id = any(${[...hostIds]})
      order by id for update)
    update environments e set give_up_at = greatest(give_up_at, now() + make_interval(mins => ${maxDownMinutes / 2}))
    from down where e.id = down.id`.execute(db);
}

/** Makes the rows of runs due, locked in the order of their ids. A worker that has one detects the change when it writes. */
export async function makeDue(db: Db, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  await sql`
    with idle as (
      select id from environments
      where ((run_id is null and id = any(${[...runIds]})) or run_id = any(${[...runIds]}))
        and lease_token is null and status <> 'terminated'
      order by id for update)
    update environments e set due_at = now() from idle where e.id = idle.id`.execute(db);
}

/** A longer wait ends at a full second. */
const exactMs = 10_000;

/**
 * The end of a wait. A long one ends at a full second, so that rows are fetched and written together: with thousands of them
 * most of the database's work was in statements for one row.
 */
function endOf(waitMs: number | RawBuilder<unknown>) {
  const end = sql`now() + make_interval(secs => ${waitMs}::float8 / 1000)`;
  return sql`case when ${waitMs}::float8 < ${exactMs} then ${end} else date_trunc('second', ${end}) + interval '1 second' end`;
}

/**
 * The end of a wait, never later than the next time that matters for a row that is not ending. A time in the past, which
 * was not acted on because the clock is unsure, waits a second.
 */
export function dueIn(waitMs: number | RawBuilder<unknown>) {
  const end = endOf(waitMs);
  return sql<Date>`case when desired = 'terminated' then ${end}
    else least(${end}, greatest(coalesce(least(expires_at, case when created_at is null or (down_since is not null and status <> 'unknown') then give_up_at end), 'infinity'), now() + interval '1 second')) end`;
}
