import { sql } from "kysely";
import type { Db } from "../database/database.ts";

interface Usage {
  /** Null before the first session (G33). */
  readonly average_session_seconds: number | null;
  /** Mean over the GPUs of the last seven days; null where none was sampled. */
  readonly gpu_percent: number | null;
  /** One decimal (G32). */
  readonly run_hours: number;
}

/** What the user's sessions add up to, open ones up to now, and how busy their GPUs were. */
export async function usageOf(db: Db, userId: string): Promise<Usage> {
  const seconds = sql<number>`extract(epoch from coalesce(closed_at, now()) - opened_at)`;
  const row = await db
    .selectFrom("sessions")
    .select([
      sql<number | null>`round(avg(${seconds}))`.as("average"),
      sql<number>`round(coalesce(sum(${seconds}), 0) / 3600, 1)`.as("hours"),
    ])
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  const gpuPercent = await gpuPercentOf(db, userId);
  return { average_session_seconds: row.average, gpu_percent: gpuPercent, run_hours: row.hours };
}

async function gpuPercentOf(db: Db, userId: string): Promise<number | null> {
  const { rows } = await sql<{ percent: number | null }>`
    select sum(s.use_percent * s.looks) / sum(s.looks) as percent
    from environments e join gpu_samples s on s.environment_id = e.id
    where e.user_id = ${userId} and s.span_seconds = 600 and s.at > now() - interval '7 days'`.execute(db);
  return rows[0]?.percent ?? null;
}
