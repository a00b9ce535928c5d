import type { Overview } from "@berth/contract/console/overview";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/**
 * Since when a lease keeps its GPU from others: one that was of the warm pool before has its row from then, and nothing
 * was rented until the order.
 */
const heldSince = sql`case when e.warm or w.id is not null then greatest(l.created_at, o.created_at) else l.created_at end`;

const holders = sql`
  left join environments e on l.holder_kind = 'environment' and e.id = l.holder_id
  left join orders o on o.id = case l.holder_kind when 'environment' then e.order_id when 'order' then l.holder_id end
  left join warm_runs w on l.holder_kind = 'order' and w.order_id = l.holder_id`;

/**
 * The last 24 hours in steps of half an hour, from what is stored anyway (G323): leases, first launches, launches that were
 * not delivered, and the queue. The last step is the one that runs.
 */
export async function readDay(db: Db): Promise<Overview["day"]> {
  const since = sql`now() - interval '25 hours'`;
  const step = (at: string) => sql`date_bin('30 minutes', ${sql.ref(at)}, 'epoch'::timestamptz)`;
  const { rows } = await sql<Omit<Overview["day"][number], "at"> & { at: Date }>`
    with held as materialized (
      select ${heldSince} as since, l.released_at from gpu_leases l ${holders}
      where l.holder_kind = 'environment' and (l.released_at is null or l.released_at > ${since})),
    ready as (select ${step("ready_at")} as at, count(*)::int as n from launch_times where ready_at > ${since} group by 1),
    undelivered as (select ${step("terminated_at")} as at, count(*)::int as n from environments
      where terminated_at > ${since} and ended_reason = 'not_delivered' group by 1),
    queued as (select ${step("asked_at")} as at, count(*)::int as n from queue_entries where asked_at > ${since} group by 1),
    steps as (select at, least(at + interval '30 minutes', now()) as until from generate_series(
      date_bin('30 minutes', now(), 'epoch'::timestamptz) - interval '23 hours 30 minutes', now(), interval '30 minutes') at)
    select s.at, coalesce(r.n, 0) as launched, coalesce(u.n, 0) as undelivered, coalesce(q.n, 0) as queued,
      (select count(*)::int from held where since <= s.until and (released_at is null or released_at > s.until)) as rented
    from steps s left join ready r using (at) left join undelivered u using (at) left join queued q using (at) order by s.at`.execute(
    db,
  );
  return rows.map(({ at, ...counts }) => ({ at: at.toISOString(), ...counts }));
}

/** When the last GPU that was free was taken, went out of service or began to drain. Only where none is free. */
export async function readSoldOutSince(db: Db): Promise<string | null> {
  const { rows } = await sql<{ since: Date | null }>`
    select max(greatest(${heldSince}, g.quarantined_at, h.drained_at)) as since
    from gpus g join hosts h on h.id = g.host_id and h.removed_at is null
    left join gpu_leases l on l.gpu_id = g.id and l.released_at is null and l.holder_kind <> 'pool' ${holders}`.execute(
    db,
  );
  return rows[0]?.since?.toISOString() ?? null;
}
