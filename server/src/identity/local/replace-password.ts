import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/ids.ts";
import type { UserPatch } from "../identity.ts";
import { dropCodes } from "./action-codes.ts";
import type { LocalParts } from "./local-parts.ts";
import { endSessions } from "./sessions.ts";
import { changeUser, type UserRow } from "./users.ts";

/**
 * A new password ends what the old one began: every sign-in (but `keepSession`), environment session, link and token.
 * Whoever has the mailbox hears of it, in case it was not they who changed it.
 */
export async function replacePassword(
  tx: Tx,
  { announce }: Pick<LocalParts, "announce">,
  userId: string,
  change: Omit<UserPatch, "password"> & { passwordHash: string },
  keepSession?: string,
): Promise<UserRow> {
  const row = await changeUser(tx, userId, change);
  await dropCodes(tx, userId);
  await endSessions(tx, userId, { keep: keepSession, reason: "password" });
  await announce?.(tx, {
    userId,
    // Each change is told, also the second one of a day.
    cause: `password-changed:${newId()}`,
    title: "Your password was changed",
    body: "Every other sign-in has ended. If it was not you, reset the password now and write to us.",
    link: "/settings?tab=password",
  });
  return row;
}
