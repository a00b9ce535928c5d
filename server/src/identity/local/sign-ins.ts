import { type Device, IdentityError } from "../identity.ts";
import { createCode, spendCode } from "./action-codes.ts";
import { type AuthSession, endAuthSessions, openAuthSession, rotateAuthSession } from "./auth-sessions.ts";
import { familiarSender } from "./fair-queue.ts";
import { idTokenSeconds, signIdToken } from "./id-tokens.ts";
import type { LocalDeps } from "./local-deps.ts";
import { hashPassword, requirePassword } from "./passwords.ts";
import { readRefreshToken, writeRefreshToken } from "./refresh-tokens.ts";
import { replacePassword } from "./replace-password.ts";
import { findUser, lockUser, toUser, type UserRow } from "./users.ts";
import { verifyIdToken, verifyPassword } from "./verify-credentials.ts";

export interface Tokens {
  readonly uid: string;
  readonly email: string;
  readonly idToken: string;
  readonly refreshToken: string;
  readonly expiresInSeconds: number;
}

/** Throws what `Identity.verifyPassword` throws. */
export async function signIn(deps: LocalDeps, email: string, password: string, device: Device): Promise<Tokens> {
  const checked = await verifyPassword(deps, email, password, device.ip);
  const session = await deps.db.transaction().execute(async (tx) => {
    // Re-checked under the lock: a concurrent password change has ended all sign-ins, and this one must not follow it.
    const row = await lockUser(tx, checked.id);
    if (row?.password_hash !== checked.password_hash) throw new IdentityError("INVALID_LOGIN_CREDENTIALS");
    return openAuthSession(tx, row.id, "password", device);
  });
  return tokensOf(deps, checked, session);
}

/** Creates a single-use token for five minutes. Throws USER_NOT_FOUND. */
export async function createCustomToken({ db }: LocalDeps, uid: string): Promise<string> {
  const row = await findUser(db, { uid });
  if (!row) throw new IdentityError("USER_NOT_FOUND");
  return db.transaction().execute((tx) => createCode(tx, "SIGN_IN", row));
}

/** Throws INVALID_CUSTOM_TOKEN. */
export async function signInWithCustomToken(deps: LocalDeps, token: string, device: Device): Promise<Tokens> {
  const { row, session } = await deps.db.transaction().execute(async (tx) => {
    const row = await spendCode(tx, "SIGN_IN", token);
    if (!row) throw new IdentityError("INVALID_CUSTOM_TOKEN");
    return { row, session: await openAuthSession(tx, row.id, "custom", device) };
  });
  return tokensOf(deps, row, session);
}

/** Throws INVALID_REFRESH_TOKEN for a forged token, TOKEN_EXPIRED for an ended sign-in, USER_DISABLED. */
export async function refresh(deps: LocalDeps, refreshToken: string): Promise<Tokens> {
  const held = readRefreshToken(deps.macKey, refreshToken);
  if (!held) throw new IdentityError("INVALID_REFRESH_TOKEN");
  const rotation = await rotateAuthSession(deps.db, held.id, held.generation);
  if (rotation.kind === "reused") await endStolen(deps, rotation.session);
  if (rotation.kind !== "rotated") throw new IdentityError("TOKEN_EXPIRED");
  const row = await findUser(deps.db, { uid: rotation.session.userId });
  if (!row || row.disabled) throw new IdentityError("USER_DISABLED");
  return tokensOf(deps, row, rotation.session);
}

const recentSignInMs = 5 * 60_000;

/** Ends every sign-in and starts a new one. Throws CREDENTIAL_TOO_OLD_LOGIN_AGAIN five minutes after the sign-in. */
export async function changePassword(
  deps: LocalDeps,
  idToken: string,
  password: string,
  device: Device,
): Promise<Tokens> {
  requirePassword(password);
  const claims = await verifyIdToken(deps, idToken, { checkRevoked: true });
  if (Date.now() - claims.authTime.getTime() > recentSignInMs)
    throw new IdentityError("CREDENTIAL_TOO_OLD_LOGIN_AGAIN");
  const passwordHash = await hashPassword(password, familiarSender(device.ip));
  const { row, session } = await deps.db.transaction().execute(async (tx) => {
    const row = await replacePassword(tx, deps, claims.uid, { passwordHash });
    return { row, session: await openAuthSession(tx, row.id, "password", device) };
  });
  return tokensOf(deps, row, session);
}

async function tokensOf({ keys, origin, macKey }: LocalDeps, row: UserRow, session: AuthSession): Promise<Tokens> {
  return {
    uid: row.id,
    email: row.email,
    idToken: await signIdToken(keys, origin(), toUser(row), session),
    refreshToken: writeRefreshToken(macKey, session),
    expiresInSeconds: idTokenSeconds,
  };
}

async function endStolen({ db, announce }: LocalDeps, { id, userId }: AuthSession): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await endAuthSessions(tx, userId, { only: id, reason: "reuse" });
    await announce?.(tx, {
      userId,
      cause: `sign-in-copied:${id}`,
      title: "A sign-in was ended for safety",
      body: "One of your sign-ins was used in two places at once, so we ended it in both. If that was not you, change your password.",
      link: "/settings",
    });
  });
}
