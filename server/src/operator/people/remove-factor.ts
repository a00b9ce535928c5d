import { AppError } from "../../app-error.ts";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import { turnFactorOff } from "../../identity/local/second-factors.ts";
import { lockUserForUpdate } from "../../identity/local/users.ts";
import { sentence } from "../../text/sentence.ts";
import { userIdOf } from "./find-user.ts";
import type { PeopleDeps } from "./warn-user.ts";

/**
 * Turns the second factor of an account off, for an owner who lost phone and recovery codes (G400). Every sign-in ends, and the
 * owner reads the reason. Returns a sentence. Throws for no account, and for one without a factor.
 */
export async function removeFactor({ db, announce }: PeopleDeps, who: string, author: Author): Promise<string> {
  const reason = requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const userId = await userIdOf(tx, who);
    await lockUserForUpdate(tx, userId);
    const words = `We turned it off for you: ${sentence(reason)} A sign-in needs your password alone now.`;
    if (!(await turnFactorOff(tx, { announce }, userId, { keepSession: null, words })))
      throw new AppError("action_not_allowed", `${who} has no second factor`);
    await recordAct(tx, author, "user.remove_factor", userId);
    return `${who} signs in with the password alone; every sign-in has ended`;
  });
}
