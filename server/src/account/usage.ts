import { sql } from "kysely";
import type { Db } from "../database/database.ts";

interface Usage {
  /** Null before the first session (G33). */
  readonly average_session_seconds: number | null;
  /** Null: this machine has no GPU to sample. */
  readonly gpu_percent: null;
  /** One decimal (G32). */
  readonly run_hours: number;
}

/** What the user's sessions add up to, open ones up to now. */
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
  return { average_session_seconds: row.average, gpu_percent: null, run_hours: row.hours };
}
