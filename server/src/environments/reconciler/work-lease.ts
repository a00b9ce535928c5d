import { type RawBuilder, sql } from "kysely";
import type { Db, RowOf } from "../../database/database.ts";
import { maxDownMinutes } from "../time/max-down-minutes.ts";
import { isSilent } from "./silence.ts";

/** A row that this worker alone may bring closer, as long as it renews its claim. */
export type Claimed = RowOf<"environments"> & { readonly claim: string };

/** Short, because a killed worker's rows wait this long; a working one renews. */
const claimSeconds = 10;
export const renewMs = 3000;

/**
 * Claims due rows. What the clock wants is decided here, by the database's clock alone and only while it can be believed
 * (`clockAgrees`): an expired environment and one that never answered in time are turned to `terminated` in the same
 * statement (docs/internals/money.md), and so is one that has run and could not be brought back
 * (docs/internals/money.md); where the container ran and JupyterLab was silent it is only stopped (G106). After an
 * outage longer than the deadline a launch still gets half of it, from its first attempt on. A claim that is lost with
 * the machine is only a second pass, so it does not wait for the disk.
 */
export async function claimDue(
  db: Db,
  hostIds: readonly string[],
  limit: number,
  clockAgrees: RawBuilder<boolean>,
): Promise<readonly Claimed[]> {
  const { rows } = await sql<Claimed>`
    with lazily as (select set_config('synchronous_commit', 'off', true)),
    due as (
      select *, ${clockAgrees} and coalesce(expires_at <= now(), false) as expired,
        ${clockAgrees} and created_at is null and first_attempt_at is not null and desired = 'running' and give_up_at <= now() as too_late,
        ${clockAgrees} and down_since is not null and status <> 'unknown' and desired = 'running' and give_up_at <= now() as lost
      from environments where status <> 'terminated' and due_at <= now() and host_id = any(${[...hostIds]})
      order by due_at limit ${limit} for update skip locked),
    decided as (
      select id, expired, case when (too_late or lost) and ${isSilent} then 'silent'
        when lost then 'hardware' when too_late then 'not_delivered' end as failure
      from due e)
    update environments e
    set claim = gen_random_uuid(), due_at = now() + make_interval(secs => ${claimSeconds}),
        first_attempt_at = coalesce(e.first_attempt_at, now()),
        give_up_at = case when e.first_attempt_at is null
          then greatest(e.give_up_at, now() + (e.give_up_at - e.requested_at) / 2) else e.give_up_at end,
        desired = case when d.expired or d.failure <> 'silent' then 'terminated' when d.failure = 'silent' then 'stopped' else e.desired end,
        stop_reason = case when not d.expired and d.failure = 'silent' then 'silent' else e.stop_reason end,
        fault_since = case when d.failure = 'hardware' then coalesce(e.fault_since, e.down_since) else e.fault_since end,
        ended_reason = case
          when e.ended_reason is not null then e.ended_reason
          when d.expired then 'expired' when d.failure <> 'silent' then d.failure
          when e.desired = 'terminated' then 'terminated' end
    from decided d, lazily where e.id = d.id returning e.*`.execute(db);
  return rows;
}

/** After an outage of our own, what was down gets half of its time anew before it is given up. */
export async function grantTime(db: Db, hostIds: readonly string[]): Promise<void> {
  await sql`
    with down as (
      select id from environments where down_since is not null and status <> 'terminated' and host_id = any(${[...hostIds]})
      order by id for update)
    update environments e set give_up_at = greatest(give_up_at, now() + make_interval(mins => ${maxDownMinutes / 2}))
    from down where e.id = down.id`.execute(db);
}

/** A driver verb may take longer than a claim lasts. */
export async function renewClaim(db: Db, { id, claim }: Claimed): Promise<void> {
  await sql`
    update environments set due_at = now() + make_interval(secs => ${claimSeconds}) where id = ${id} and claim = ${claim}`.execute(
    db,
  );
}

/** Milliseconds until the next row of these hosts is due. */
export async function nextDueMs(db: Db, hostIds: readonly string[]): Promise<number> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from min(due_at) - now()) * 1000)::float8 as ms
    from environments where status <> 'terminated' and host_id = any(${[...hostIds]})`.execute(db);
  return Math.max(0, Math.ceil(rows[0]?.ms ?? Number.POSITIVE_INFINITY));
}

/** Gives a claim back with nothing learnt, because something changed meanwhile: the row is due at once. */
export async function abandon(db: Db, row: Claimed): Promise<void> {
  await sql`update environments set claim = null, due_at = now() where id = ${row.id} and claim = ${row.claim}`.execute(
    db,
  );
}

/** Makes rows due, locked in the order of their ids, unless someone is at one: they find what changed when they record. */
export async function makeDue(db: Db, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    with idle as (
      select id from environments where id = any(${[...ids]}) and claim is null and status <> 'terminated'
      order by id for update)
    update environments e set due_at = now() from idle where e.id = idle.id`.execute(db);
}

/**
 * The end of a wait, never later than what the clock wants of a row that is not already on its way out. What it wanted
 * in the past and did not get, because the clock is in doubt, waits a second, not nothing.
 */
export function dueIn(waitMs: number | RawBuilder<unknown>) {
  const end = sql`now() + make_interval(secs => ${waitMs}::float8 / 1000)`;
  return sql<Date>`case when desired = 'terminated' then ${end}
    else least(${end}, greatest(coalesce(least(expires_at, case when created_at is null or (down_since is not null and status <> 'unknown') then give_up_at end), 'infinity'), now() + interval '1 second')) end`;
}
