import { plural } from "@berth/contract";
import type { Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { UserPatch } from "../identity.ts";
import { dropCodes } from "./action-codes.ts";
import { endAuthSessions } from "./auth-sessions.ts";
import { countPasskeys } from "./count-passkeys.ts";
import type { EndedRights, LocalDeps } from "./local-deps.ts";
import { changeUser, type UserRow } from "./users.ts";

export type ReplacePasswordDeps = Pick<LocalDeps, "announce" | "endRights">;

/**
 * Sets a new password and ends every sign-in (except `keepSession`), grant, share link and environment secret (G109).
 * Notifies the owner by mail, in case of an account takeover.
 */
export async function replacePassword(
  tx: Tx,
  deps: ReplacePasswordDeps,
  userId: string,
  change: Omit<UserPatch, "password"> & { passwordHash: string },
  keepSession?: string,
): Promise<UserRow> {
  const row = await changeUser(tx, userId, change);
  await endOthersAccess(tx, deps, userId, keepSession);
  return row;
}

/** What a new password ends, with the notice to the owner. */
export async function endOthersAccess(
  tx: Tx,
  deps: ReplacePasswordDeps,
  userId: string,
  keepSession?: string,
  title = "Your password was changed",
): Promise<void> {
  const revoked = await endAccess(tx, deps, userId, { keep: keepSession, reason: "password" });
  const passkeys = await countPasskeys(tx, userId);
  const kept = passkeys > 0 ? `${plural(passkeys, "passkey")} still ${passkeys === 1 ? "signs" : "sign"} in. ` : "";
  await deps.announce?.(tx, {
    userId,
    // A unique cause: every change is notified.
    cause: `password-changed:${newId()}`,
    title,
    body: `Every other sign-in has ended. ${revoked}${kept}If it was not you, reset the password now and write to us.`,
    link: "/settings?tab=password",
  });
}

/** Ends all access to a suspended account; its environments are kept (G109). `text` ends the letter about it. */
export async function suspend(
  tx: Tx,
  deps: ReplacePasswordDeps,
  userId: string,
  text = "Write to us if you think that this is a mistake.",
): Promise<void> {
  const revoked = await endAccess(tx, deps, userId, { reason: "disabled" });
  await deps.announce?.(tx, {
    userId,
    cause: `suspended:${newId()}`,
    title: "Your account is suspended",
    body: `Every sign-in has ended. ${revoked}${text}`,
    // A suspended user cannot open the app.
    link: null,
  });
}

/** Returns a text about the revoked access. */
async function endAccess(
  tx: Tx,
  { endRights }: ReplacePasswordDeps,
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
  const links = `${plural(shareLinks, "share link was", "share links were")} revoked. `;
  const rented = plural(environments, "environment has", "environments have");
  return (
    (shareLinks > 0 ? links : "") + (environments > 0 ? `${rented} a new password, which your scripts need. ` : "")
  );
}
