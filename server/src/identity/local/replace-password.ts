import type { Tx } from "../../database/database.ts";
import type { UserPatch } from "../identity.ts";
import { dropCodes } from "./action-codes.ts";
import { endSessions } from "./sessions.ts";
import { changeUser, type UserRow } from "./users.ts";

/** A new password ends what the old one began: every sign-in (but `keepSession`), environment session, link and token. */
export async function replacePassword(
  tx: Tx,
  userId: string,
  change: Omit<UserPatch, "password"> & { passwordHash: string },
  keepSession?: string,
): Promise<UserRow> {
  const row = await changeUser(tx, userId, change);
  await dropCodes(tx, userId);
  await endSessions(tx, userId, { keep: keepSession, reason: "password" });
  return row;
}
