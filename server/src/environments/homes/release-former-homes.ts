import { sql } from "kysely";
import type { Db, RowOf } from "../../database/database.ts";
import { type Announce, instant } from "../notice.ts";

export interface FormerHomeDeps {
  readonly db: Db;
  readonly announce: Announce;
  readonly retentionDays: number;
}

/**
 * Files that a fresh start left (G203) have their retention from the moment when nothing can write them any more and their
 * machine is back. Their owner is notified: they can be downloaded again.
 */
export async function releaseFormerHomes({ db, announce, retentionDays }: FormerHomeDeps): Promise<void> {
  const { rows } = await sql<{ id: string }>`select id from homes where ${isReleased}`.execute(db);
  for (const { id } of rows)
    await db.transaction().execute(async (tx) => {
      const released = await sql<RowOf<"homes">>`
        update homes set told_at = case when used_at is null then now() end,
          delete_at = now() + make_interval(days => case when used_at is null then 0 else ${retentionDays}::int end)
        where id = ${id} and ${isReleased} returning *`.execute(tx);
      const home = released.rows[0];
      if (!home?.used_at || !home.delete_at) return;
      const { user_id: userId, subdomain, delete_at } = home;
      await announce(tx, {
        userId,
        cause: `former:${id}`,
        title: `The former files of ${subdomain} are there again`,
        body: `The machine that had failed is back. Download what you need of them under Kept files: they are kept until ${instant(delete_at)}, and are not in ${subdomain} as it is now.`,
        link: "/environments",
      });
    });
}

const isReleased = sql<boolean>`(left_by is not null and delete_at is null
  and not exists (select from warm_runs where id = homes.left_run))`;
