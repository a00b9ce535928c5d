import type { BarState } from "@berth/contract";
import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { endNow } from "../environment.ts";
import { movePercent } from "../move-percent.ts";
import { bookedHours, type PaidSum, paidSums } from "./booked.ts";

/** What the bar in JupyterLab shows and the gateway's routes do not have (G392). */
export interface BarFacts {
  readonly expires_at: Date | null;
  readonly lost_since: Date | null;
  readonly moving_percent: number | null;
  readonly duration_hours: number;
  readonly booked_hours: number;
  readonly paid: readonly PaidSum[];
  readonly terminated_at: Date | null;
  /** When and why its last session ended; null while it runs. */
  readonly closed_at: Date | null;
  readonly closed_reason: string | null;
  readonly stopped_by_operator: boolean;
  readonly sample: BarState["sample"];
}

/** One read by primary keys. Undefined for an environment that is gone. */
export async function barFactsOf(db: Db, id: string): Promise<BarFacts | undefined> {
  const { rows } = await sql<BarFacts>`
    select ${endNow} as expires_at, e.lost_since, e.terminated_at, ${movePercent} as moving_percent, e.duration_hours,
      ${bookedHours} as booked_hours, ${paidSums} as paid, s.closed_at, s.reason as closed_reason,
      exists (select from notifications n where n.user_id = e.user_id
        and n.cause = 'operator-stopped:' || e.id || ':' || e.generation) as stopped_by_operator,
      (select json_build_object('cpu_cores', u.cpu_cores, 'memory_mb', u.memory_mb, 'gpu', (
          select case when count(*) > 0 then json_build_object('use_percent', avg(v.use_percent), 'memory_mb', sum(v.memory_mb),
            'total_memory_mb', coalesce(sum(g.memory_mb), 0)) end
          from gpu_samples v left join gpus g on g.id = v.gpu_id
          where v.environment_id = e.id and v.span_seconds = 60 and v.at = u.at))
        from samples u where u.environment_id = e.id and u.span_seconds = 60 and u.at > now() - interval '3 minutes'
        order by u.at desc limit 1) as sample
    from environments e left join lateral (
      select closed_at, reason from sessions where environment_id = e.id order by opened_at desc, id limit 1) s on true
    where e.id = ${id}`.execute(db);
  return rows[0];
}

/**
 * Whether this grant of the environment ended with its run and not by its owner, such as by a sign-out: its page may still say
 * so (G393). Undefined otherwise. The transaction that closes a session ends the grants, at the same instant.
 */
export async function grantEndedWithRun(
  db: Db,
  { grantId, environmentId }: { readonly grantId: string; readonly environmentId: string },
): Promise<{ readonly shared: boolean } | undefined> {
  const { rows } = await sql<{ shared: boolean }>`
    select g.share_id is not null as shared from grants g
    where g.id = ${grantId} and g.environment_id = ${environmentId}
      and exists (select from sessions s where s.environment_id = g.environment_id and s.closed_at = g.revoked_at)`.execute(
    db,
  );
  return rows[0];
}
