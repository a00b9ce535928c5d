import { maxKeyNameLength, maxSshKeys } from "@berth/contract";
import { AppError } from "../../app-error.ts";
import type { Db, RowOf, Tx } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import type { Announce } from "../../environments/notice.ts";
import { isSuspended } from "../../identity/is-suspended.ts";
import { requireOpenAuthSession } from "../../identity/local/auth-sessions.ts";
import { lockUserForUpdate } from "../../identity/local/users.ts";
import { type PublicKey, readPublicKey, unusableKey } from "./read-public-key.ts";

interface Given {
  readonly userId: string;
  /** The sign-in of the caller, which a new password ends. */
  readonly sessionId: string | null;
  readonly name: string;
  /** As it was pasted. */
  readonly text: string;
}

/** Adds a key and tells its owner, in one transaction (G410, G411). The user's lock guards the limit. */
export async function addSshKey(
  { db, announce }: { readonly db: Db; readonly announce: Announce },
  { userId, sessionId, name, text }: Given,
): Promise<RowOf<"ssh_keys">> {
  const key = readPublicKey(text);
  return await db.transaction().execute(async (tx) => {
    const user = await lockUserForUpdate(tx, userId);
    if (!user || (await isSuspended(tx, userId))) throw new AppError("unauthenticated", "Sign in first");
    await requireOpenAuthSession(tx, sessionId);
    const row = await insertKey(tx, userId, nameOf(name) || nameOf(key.comment) || "SSH key", key);
    await announce(tx, {
      userId,
      cause: `ssh-key:${row.id}`,
      title: "An SSH key was added",
      body: `${row.name} (${row.type}, ${row.fingerprint}) opens your environments by SSH. If it was not you, remove it under Settings, SSH keys, and change your password.`,
      link: "/settings?tab=ssh-keys",
    });
    return row;
  });
}

async function insertKey(tx: Tx, userId: string, name: string, key: PublicKey): Promise<RowOf<"ssh_keys">> {
  const own = await tx.selectFrom("ssh_keys").select(["name", "fingerprint"]).where("user_id", "=", userId).execute();
  const same = own.find(({ fingerprint }) => fingerprint === key.fingerprint);
  if (same) throw new AppError("action_not_allowed", `You already have this key: ${same.name}`);
  if (own.length >= maxSshKeys)
    throw new AppError("action_not_allowed", `An account has ${maxSshKeys} keys at most. Remove one of them first`);
  const row = await tx
    .insertInto("ssh_keys")
    .values({
      ...{ id: newId(), user_id: userId, name },
      ...{ type: key.type, fingerprint: key.fingerprint, public_key: key.line },
    })
    .onConflict((conflict) => conflict.column("fingerprint").doNothing())
    .returningAll()
    .executeTakeFirst();
  // Another account has it.
  if (!row) throw new AppError("invalid_request", unusableKey);
  return row;
}

/** One line of a limited length, in which no letter reverses or hides others. */
function nameOf(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return Array.from(line).slice(0, maxKeyNameLength).join("");
}
