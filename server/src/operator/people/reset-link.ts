import { AppError } from "../../app-error.ts";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { createCode } from "../../identity/local/action-codes.ts";
import { lockUserForUpdate } from "../../identity/local/users.ts";
import { userIdOf } from "./find-user.ts";

/**
 * Makes the link that a renter who forgot the password would get by mail, for an installation without a relay (G349). It is
 * valid for an hour, once, and makes the one before void. Throws for no account, and for a suspended one.
 */
export async function resetLink(db: Db, appUrl: string, who: string, author: Author): Promise<string> {
  requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const user = await lockUserForUpdate(tx, await userIdOf(tx, who));
    if (!user) throw new AppError("not_found", `There is no account ${who}`);
    if (user.disabled) throw new AppError("action_not_allowed", `${user.email} is suspended: lift that first`);
    const code = await createCode(tx, "PASSWORD_RESET", user);
    await recordAct(tx, author, "user.reset_link", user.id);
    return `${appUrl}/reset-password?oobCode=${encodeURIComponent(code)}`;
  });
}
