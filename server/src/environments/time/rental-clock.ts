import { freeStartSeconds, freeStartSecondsPerDay } from "@berth/contract";
import { sql } from "kysely";
import type { Tx } from "../../database/database.ts";
import type { Environment } from "../environment.ts";
import { resetNotice } from "./expiry-notices.ts";

const today = sql`(now() at time zone 'utc')::date`;

/**
 * Opens the clock of a start whose container runs while JupyterLab is not ready yet (G105). The first start is free until
 * it is ready, so nothing happens. From the second start on the time left counts from the container's start, less a free
 * minute at most: a program in the home cannot run unbilled by keeping JupyterLab silent. Where the clock ran on while
 * the machine was at fault, that time is credited first. `startedAt` is the driver's, limited to what the database knows.
 */
export async function openClock(tx: Tx, row: Environment, startedAt: Date): Promise<void> {
  if (row.created_at === null || (row.expires_at !== null && row.fault_since === null)) return;
  await sql`
    with started as (
      select e.id, least(now(), greatest(${startedAt}::timestamptz, ${row.fault_since}::timestamptz, s.at)) as at,
        case when free_on = ${today} then free_seconds else 0 end as used
      from environments e
      left join launch_stages s on s.environment_id = e.id and s.generation = e.generation and s.stage = 'placed'
      where e.id = ${row.id}),
    granted as (select *, greatest(0, least(${freeStartSeconds}, ${freeStartSecondsPerDay} - used)) as free from started)
    update environments e
    set free_on = ${today}, free_seconds = used + free, clock_from = at + make_interval(secs => free),
      expires_at = make_interval(secs => free)
        + coalesce(expires_at + (at - ${row.fault_since}::timestamptz), at + make_interval(secs => banked_seconds)),
      banked_seconds = 0, banked_until = null, due_at = now()
    from granted where e.id = granted.id`.execute(tx);
  await resetNotice(tx, row.id);
}

/** JupyterLab is ready, or the run is over: the rest of the free minute is taken back. */
export async function closeClock(tx: Tx, id: string): Promise<void> {
  const left = sql`greatest(interval '0', clock_from - now())`;
  await sql`
    update environments
    set expires_at = expires_at - ${left}, free_seconds = greatest(0, free_seconds - extract(epoch from ${left})),
      clock_from = null
    where id = ${id} and clock_from is not null`.execute(tx);
}

/** Time for which the machine was at fault is not the owner's, whether the run goes on or they stop it (G106). */
export async function creditFault(tx: Tx, { id, fault_since }: Environment): Promise<void> {
  if (fault_since === null) return;
  const { rows } = await sql`
    update environments
    set expires_at = expires_at + (now() - ${fault_since}::timestamptz), clock_from = clock_from + (now() - ${fault_since}::timestamptz)
    where id = ${id} and expires_at is not null returning id`.execute(tx);
  if (rows.length > 0) await resetNotice(tx, id);
}
