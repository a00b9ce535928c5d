import { sql } from "kysely";
import type { Db } from "../database/database.ts";

/**
 * Deletes what can no longer be used. Ended sign-ins stay 60 days: they are how attempts from a familiar place are told
 * from strangers' (attempts.ts).
 */
export async function purgeIdentity(db: Db): Promise<void> {
  await db.deleteFrom("identity_code").where("expires_at", "<", sql<Date>`now() - interval '1 day'`).execute();
  await db
    .deleteFrom("identity_session")
    .where(sql<Date>`coalesce(revoked_at, expires_at)`, "<", sql<Date>`now() - interval '60 days'`)
    .execute();
  await db.deleteFrom("identity_key").where("not_after", "<", sql<Date>`now() - interval '1 day'`).execute();
  await purgeWindows(db);
}

/** Guesses at a million invented accounts would fill it for a day: what ends first then goes first. */
const mostWindows = 1_000_000;

async function purgeWindows(db: Db): Promise<void> {
  await sql`
    delete from attempt_windows where ends_at <= now()
      or ends_at < (select ends_at from attempt_windows order by ends_at desc offset ${mostWindows} limit 1)`.execute(
    db,
  );
}
