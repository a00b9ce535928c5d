import { sql } from "kysely";
import type { Db } from "../../database/database.ts";

/** Deletes sessions and launch stages a year after the end of their environment, and leases a year after their own. */
export async function purgeRuns(db: Db): Promise<void> {
  await sql`delete from gpu_leases where released_at < now() - interval '1 year'`.execute(db);
  for (const table of ["sessions", "launch_stages"] as const)
    await sql`
      delete from ${sql.table(table)} where environment_id in (
        select id from environments where terminated_at < now() - interval '1 year')`.execute(db);
}
