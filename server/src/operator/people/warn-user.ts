import { plural } from "@berth/contract";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Announce } from "../../environments/notice.ts";
import { lockUserForUpdate } from "../../identity/local/users.ts";
import { sentence } from "../../text/sentence.ts";
import { userIdOf } from "./find-user.ts";

/** Warnings before a suspension (G69). */
export const warningsBefore = 2;

export interface PeopleDeps {
  readonly db: Db;
  readonly announce: Announce;
  /** The seller's address, which every letter names. */
  readonly contact: string;
}

/** Warns an account by bell and mail, with the author's reason (G69). Returns how many warnings it has. Throws for no account. */
export async function warnUser({ db, announce, contact }: PeopleDeps, who: string, author: Author): Promise<number> {
  const reason = requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const userId = await userIdOf(tx, who);
    await lockUserForUpdate(tx, userId);
    const id = newId();
    await tx.insertInto("account_warnings").values({ id, user_id: userId, reason }).execute();
    const warnings = (await tx.selectFrom("account_warnings").select("id").where("user_id", "=", userId).execute())
      .length;
    await announce(tx, {
      userId,
      cause: `warned:${id}`,
      title: "A warning about your account",
      body: `${sentence(reason)} This is warning ${warnings} of ${Math.max(warnings, warningsBefore)}: after ${warningsBefore} warnings an account can be suspended. Write to ${contact} if you think that this is a mistake.`,
      link: "/terms-condition",
    });
    await recordAct(tx, author, "user.warn", userId, { warnings });
    return warnings;
  });
}

/** What was done, for the operator; `who` as the account was named. */
export function warnedText(who: string, warnings: number): string {
  const next = warnings >= warningsBefore ? "; it can be suspended" : "";
  return `${who} is warned: ${plural(warnings, "warning")}${next}`;
}
