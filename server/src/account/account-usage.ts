import { sql } from "kysely";
import type { Db } from "../database/database.ts";

export interface Usage {
  /** Null before the first session (G33). */
  readonly average_session_seconds: number | null;
  /** Mean over the GPUs of the last seven days; null where none was sampled. */
  readonly gpu_percent: number | null;
  /** One decimal (G32). */
  readonly run_hours: number;
}

/** Sums the sessions of each user, open ones up to now, and averages GPU utilization; by user id. */
export async function accountUsageOf(db: Db, userIds: readonly string[]): Promise<ReadonlyMap<string, Usage>> {
  const { rows } = await sql<Usage & { user_id: string }>`
    select asked.id as user_id, run.average as average_session_seconds, run.hours as run_hours, gpus.percent as gpu_percent
    from unnest(${[...userIds]}::text[]) as asked (id)
    cross join lateral (
      select round(avg(seconds)) as average, round(coalesce(sum(seconds), 0) / 3600, 1) as hours
      from (select extract(epoch from coalesce(closed_at, now()) - opened_at) as seconds
            from sessions where user_id = asked.id) of_session) run
    cross join lateral (
      select sum(s.use_percent * s.looks) / sum(s.looks) as percent
      from environments e join gpu_samples s on s.environment_id = e.id
      where e.user_id = asked.id and s.span_seconds = 600 and s.at > now() - interval '7 days') gpus`.execute(db);
  return new Map(rows.map(({ user_id, ...usage }) => [user_id, usage]));
}
