import { sql } from "kysely";
import type { Db } from "../database/database.ts";

/**
 * Deletes expired codes, half sign-ins, sign-ins under way at other providers, trust, used challenges, keys and counters, and
 * ended sign-ins after 60 days: until then they mark familiar networks
 * (count-attempts.ts).
 */
export async function purgeIdentity(db: Db): Promise<void> {
  await db.deleteFrom("identity_code").where("expires_at", "<", sql<Date>`now() - interval '1 day'`).execute();
  for (const table of [
    ...(["identity_pending_sign_ins", "identity_provider_attempts"] as const),
    ...(["identity_trusted_browsers", "identity_spent_challenges"] as const),
  ])
    await db.deleteFrom(table).where("expires_at", "<", sql<Date>`now()`).execute();
  await db
    .deleteFrom("identity_session")
    .where(sql<Date>`coalesce(revoked_at, expires_at)`, "<", sql<Date>`now() - interval '60 days'`)
    .execute();
  // Much later than they count: else an account that was away would have no other browser, as at its first sign-in.
  await db
    .deleteFrom("identity_known_browsers")
    .where("last_used_at", "<", sql<Date>`now() - interval '2 years'`)
    .execute();
  await db.deleteFrom("identity_key").where("not_after", "<", sql<Date>`now() - interval '1 day'`).execute();
  await purgeWindows(db);
}

/** Cap against attempts on made-up accounts; the windows that end first are deleted first. */
const maxWindows = 1_000_000;

async function purgeWindows(db: Db): Promise<void> {
  await sql`
    delete from attempt_windows where ends_at <= now()
      or ends_at < (select ends_at from attempt_windows order by ends_at desc offset ${maxWindows} limit 1)`.execute(
    db,
  );
}
