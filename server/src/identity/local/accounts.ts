import type { Tx } from "../../database/database.ts";
import { addressKey } from "../../http/limit-requests.ts";
import type { Identity, IdentityUser, UserPatch } from "../identity.ts";
import { endAuthSessions, listAuthSessions } from "./auth-sessions.ts";
import { familiarSender } from "./fair-queue.ts";
import type { LocalDeps } from "./local-deps.ts";
import { hashPassword, requirePassword } from "./passwords.ts";
import { replacePassword, suspend } from "./replace-password.ts";
import { dropTrustedBrowsers } from "./trusted-browsers.ts";
import { changeUser, findUser, insertUser, lockUserForUpdate, requireEmail, toUser } from "./users.ts";

type Calls = "createUser" | "getUser" | "updateUser" | "deleteUser" | "listSessions";

/** The user accounts of the local provider. */
export function accounts(deps: LocalDeps): Pick<Identity, Calls | "revokeSessions" | "revokeOtherSessions"> {
  const { db } = deps;
  return {
    async createUser({ email, password, name, from = "" }) {
      requireEmail(email);
      requirePassword(password);
      const sender = { network: addressKey(from), familiar: false };
      return toUser(await insertUser(db, { email, name, passwordHash: await hashPassword(password, sender) }));
    },

    async getUser(by) {
      const row = await findUser(db, by);
      return row ? toUser(row) : null;
    },

    updateUser: (uid, patch, options) => updateUser(deps, uid, patch, options),

    deleteUser: (uid, joined) =>
      joined ? deleteUser(joined, uid) : db.transaction().execute((tx) => deleteUser(tx, uid)),

    listSessions: (uid) => listAuthSessions(db, uid),

    async revokeSessions(uid, sessionId) {
      await db.transaction().execute(async (tx) => {
        if (sessionId === undefined) await dropTrustedBrowsers(tx, uid);
        await endAuthSessions(tx, uid, { only: sessionId, reason: "user" });
      });
    },

    async revokeOtherSessions(uid, keep) {
      await db.transaction().execute(async (tx) => {
        await dropTrustedBrowsers(tx, uid);
        await endAuthSessions(tx, uid, { keep: keep ?? undefined, reason: "user" });
      });
    },
  };
}

/** Ends every sign-in; an unknown user is no error. */
export async function deleteUser(tx: Tx, uid: string): Promise<void> {
  await lockUserForUpdate(tx, uid);
  await endAuthSessions(tx, uid, { reason: "deleted" });
  await tx.deleteFrom("identity_user").where("id", "=", uid).execute();
}

async function updateUser(
  deps: LocalDeps,
  uid: string,
  { password, ...patch }: UserPatch,
  { keepSession, from }: { keepSession?: string | undefined; from?: string | undefined } = {},
): Promise<IdentityUser> {
  if (patch.email !== undefined) requireEmail(patch.email);
  if (password !== undefined) requirePassword(password);
  const passwordHash = password === undefined ? undefined : await hashPassword(password, familiarSender(from));
  return deps.db.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom("identity_user")
      .select("disabled")
      .where("id", "=", uid)
      .forNoKeyUpdate()
      .executeTakeFirst();
    const row =
      passwordHash === undefined
        ? await changeUser(tx, uid, patch)
        : await replacePassword(tx, deps, uid, { ...patch, passwordHash }, keepSession);
    if (patch.disabled && before?.disabled === false) await suspend(tx, deps, uid);
    return toUser(row);
  });
}
