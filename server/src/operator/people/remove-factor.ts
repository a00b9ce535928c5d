import { AppError } from "../../app-error.ts";
import { type Author, recordAct, requireReason } from "../../audit/record-act.ts";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { endAuthSessions } from "../../identity/local/auth-sessions.ts";
import { dropPasskeys } from "../../identity/local/count-passkeys.ts";
import { turnFactorOff } from "../../identity/local/second-factors.ts";
import { lockUserForUpdate } from "../../identity/local/users.ts";
import { sentence } from "../../text/sentence.ts";
import { userIdOf } from "./find-user.ts";
import type { PeopleDeps } from "./warn-user.ts";

/**
 * Turns the second factor of an account off and removes its passkeys, for an owner who lost phone and recovery codes (G400, G426).
 * Every sign-in ends, and the owner reads the reason. Returns a sentence. Throws for no account, and for one without both.
 */
export async function removeFactor({ db, announce }: PeopleDeps, who: string, author: Author): Promise<string> {
  const reason = requireReason(author);
  return await db.transaction().execute(async (tx) => {
    const userId = await userIdOf(tx, who);
    await lockUserForUpdate(tx, userId);
    const passkeys = await dropPasskeys(tx, userId);
    const words = `We turned it off for you${passkeys > 0 ? " and removed your passkeys" : ""}: ${sentence(reason)} A sign-in needs your password alone now.`;
    const isOff = await turnFactorOff(tx, { announce }, userId, { keepSession: null, words });
    if (!isOff && passkeys === 0)
      throw new AppError("action_not_allowed", `${who} has no second factor and no passkey`);
    if (!isOff) await tellOfPasskeys(tx, announce, userId, sentence(reason));
    await recordAct(tx, author, "user.remove_factor", userId);
    return `${who} signs in with the password alone; every sign-in has ended`;
  });
}

async function tellOfPasskeys(tx: Tx, announce: PeopleDeps["announce"], userId: string, why: string): Promise<void> {
  await endAuthSessions(tx, userId, { reason: "passkeys" });
  await announce(tx, {
    userId,
    cause: `passkey:${newId()}`,
    title: "Your passkeys were removed",
    body: `We removed them for you: ${why} Every sign-in has ended, and the next one needs your password. If you did not ask for it, reset the password now and write to us.`,
    link: "/settings?tab=security",
  });
}
