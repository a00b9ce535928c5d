import type { LatestEvent } from "@berth/contract/console/overview";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

const shown = 5;

/** What operators did, what began and ended, and money that moved: the newest five of all, from what is stored anyway (G323). */
export async function readLatest(db: Db): Promise<LatestEvent[]> {
  const { rows } = await sql<Omit<LatestEvent, "at"> & { at: Date }>`
    select * from (
      (select at, 'act' as kind, act as what, subject_id as name, subject_id as id, actor as detail, 0::bigint as amount
        from audit order by audit.id desc limit ${shown})
      union all
      (select ready_at, 'ready', '', e.subdomain, e.id, '', t.ready_ms from launch_times t join environments e on e.id = t.environment_id
        order by ready_at desc limit ${shown})
      union all
      (select terminated_at, 'ended', coalesce(ended_reason, ''), subdomain, id, '', 0 from environments
        where terminated_at is not null order by terminated_at desc limit ${shown})
      union all
      (select j.at, 'money', j.kind, '', l.order_id, l.currency, l.amount_minor from journal j
        join journal_lines l on l.entry_id = j.id and l.amount_minor > 0
        where j.kind in ('capture', 'refund_arrived', 'external_refund', 'dispute_lost') order by j.at desc limit ${shown})
    ) happened order by at desc limit ${shown}`.execute(db);
  return rows.map(({ at, ...event }) => ({ at: at.toISOString(), ...event }));
}
