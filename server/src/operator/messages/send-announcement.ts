import { sql } from "kysely";
import { AppError } from "../../app-error.ts";
import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Announce } from "../../environments/notice.ts";

/** Everybody with an account, or who has an environment that has not ended. */
export const audiences = ["all", "renters"] as const;
export type Audience = (typeof audiences)[number];

const longestText = 2000;

/**
 * Tells everybody of an audience in one transaction, by `announce`: of the bell alone, or by mail too. Returns how many.
 * Suspended accounts are left out. Throws for an empty or too long text.
 */
export async function sendAnnouncement(
  { db, announce }: { readonly db: Db; readonly announce: Announce },
  { text, audience, title }: { readonly text: string; readonly audience: Audience; readonly title: string },
  author: Author,
): Promise<number> {
  if (text.trim() === "" || text.length > longestText)
    throw new AppError("invalid_request", `An announcement has 1 to ${longestText} characters`);
  return await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ id: string }>`
      select u.id from identity_user u where not u.disabled and (${audience === "all"}
        or exists (select from environments e where e.user_id = u.id and e.status <> 'terminated')) order by u.id`.execute(
      tx,
    );
    const cause = `news:${newId()}` as const;
    for (const { id: userId } of rows)
      await announce(tx, { userId, cause, title, body: text.trim(), link: "/dashboard" });
    await recordAct(tx, author, "announcement.send", cause, { audience, users: rows.length });
    return rows.length;
  });
}
