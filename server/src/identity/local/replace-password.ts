import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { UserPatch } from "../identity.ts";
import { dropCodes } from "./action-codes.ts";
import { endAuthSessions } from "./auth-sessions.ts";
import type { EndedRights, LocalDeps } from "./local-deps.ts";
import { changeUser, type UserRow } from "./users.ts";

type Parts = Pick<LocalDeps, "announce" | "endRights">;

/**
 * A new password ends what the old one began: every sign-in (but `keepSession`), environment session, link and token
 * (G109). Whoever has the mailbox hears of it, in case it was not they who changed it.
 */
export async function replacePassword(
  tx: Tx,
  parts: Parts,
  userId: string,
  change: Omit<UserPatch, "password"> & { passwordHash: string },
  keepSession?: string,
): Promise<UserRow> {
  const row = await changeUser(tx, userId, change);
  const lost = await endAccess(tx, parts, userId, { keep: keepSession, reason: "password" });
  await parts.announce?.(tx, {
    userId,
    // Each change is told, also the second one of a day.
    cause: `password-changed:${newId()}`,
    title: "Your password was changed",
    body: `Every other sign-in has ended. ${lost}If it was not you, reset the password now and write to us.`,
    link: "/settings?tab=password",
  });
  return row;
}

/** A suspended account keeps its environments and lets nobody in (G109). */
export async function suspend(tx: Tx, parts: Parts, userId: string): Promise<void> {
  const lost = await endAccess(tx, parts, userId, { reason: "disabled" });
  await parts.announce?.(tx, {
    userId,
    cause: `suspended:${newId()}`,
    title: "Your account is suspended",
    body: `Every sign-in has ended. ${lost}Write to us if you think that this is a mistake.`,
    // Nothing of the app opens for them.
    link: null,
  });
}

/** Answers what was taken back, in words. */
async function endAccess(
  tx: Tx,
  { endRights }: Parts,
  userId: string,
  ending: { keep?: string | undefined; reason: string },
): Promise<string> {
  await dropCodes(tx, userId);
  const ended = await endRights?.(tx, userId);
  await endAuthSessions(tx, userId, ending);
  return ended ? endedText(ended) : "";
}

/** "2 share links were revoked. 1 environment has a new password, which your scripts need. ", or nothing. */
function endedText({ shareLinks, environments }: EndedRights): string {
  const links = shareLinks === 1 ? "1 share link was revoked. " : `${shareLinks} share links were revoked. `;
  const rented = environments === 1 ? "1 environment has" : `${environments} environments have`;
  return (
    (shareLinks > 0 ? links : "") + (environments > 0 ? `${rented} a new password, which your scripts need. ` : "")
  );
}
