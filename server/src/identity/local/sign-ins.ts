import type { Tx } from "../../database/database.ts";
import { type Device, IdentityError } from "../identity.ts";
import { createCode, spendCode } from "./action-codes.ts";
import { type AuthSession, endAuthSessions, rotateAuthSession } from "./auth-sessions.ts";
import { countPasskeys } from "./count-passkeys.ts";
import { codeWasRight, countCode, factorSince, takeCode } from "./factor-codes.ts";
import { familiarSender } from "./fair-queue.ts";
import { idTokenSeconds, signIdToken } from "./id-tokens.ts";
import type { LocalDeps } from "./local-deps.ts";
import { hashPassword, requirePassword } from "./passwords.ts";
import { openPendingSignIn, type PendingSignIn, spendPendingSignIn, tryPendingSignIn } from "./pending-sign-ins.ts";
import { readRefreshToken, writeRefreshToken } from "./refresh-tokens.ts";
import { replacePassword } from "./replace-password.ts";
import { startSession } from "./start-session.ts";
import { isTrustedBrowser, trustBrowser } from "./trusted-browsers.ts";
import { findUser, lockUser, toUser, type UserRow } from "./users.ts";
import { verifyIdToken, verifyPassword } from "./verify-credentials.ts";

/** With a second factor: what makes the code needless, or keeps it so for 30 days (G401). */
export interface Trust {
  /** A token of an earlier sign-in of this browser. */
  readonly trustedBrowser?: string | undefined;
  readonly trustBrowser?: boolean | undefined;
}

export interface Tokens {
  readonly uid: string;
  readonly email: string;
  readonly idToken: string;
  readonly refreshToken: string;
  readonly expiresInSeconds: number;
  /** Of a browser that is trusted from now on. */
  readonly trustedBrowser?: string | undefined;
}

/** A sign-in that waits for a code of the second factor (G398). */
export interface HalfSignIn {
  readonly uid: string;
  readonly email: string;
  readonly pendingCredential: string;
  readonly factorSince: Date;
  /** A sign-in with a passkey needs no code (G424). */
  readonly hasPasskeys: boolean;
}

/** Throws what `Identity.verifyPassword` throws. */
export async function signIn(
  deps: LocalDeps,
  email: string,
  password: string,
  device: Device,
  { trustedBrowser = "" }: Trust = {},
): Promise<Tokens | HalfSignIn> {
  const checked = await verifyPassword(deps, email, password, device.ip);
  const begun = await deps.db.transaction().execute(async (tx) => {
    // Re-checked under the lock: a concurrent password change has ended all sign-ins, and this one must not follow it.
    const row = await lockUser(tx, checked.id);
    if (row?.password_hash !== checked.password_hash) throw new IdentityError("INVALID_LOGIN_CREDENTIALS");
    return beginSignIn(tx, deps, row, { provider: "password", device, trustedBrowser });
  });
  return "pendingCredential" in begun ? begun : tokensOf(deps, checked, begun);
}

/** The caller holds the user's lock, so that no factor is set up meanwhile. */
async function beginSignIn(
  tx: Tx,
  deps: LocalDeps,
  row: UserRow,
  { device, trustedBrowser, ...way }: Omit<PendingSignIn, "userId"> & { device: Device; trustedBrowser: string },
): Promise<AuthSession | HalfSignIn> {
  const since = await factorSince(tx, row.id);
  if (!since || (await isTrustedBrowser(tx, row.id, trustedBrowser)))
    return startSession(tx, deps, row.id, way, device);
  const pendingCredential = await openPendingSignIn(tx, { userId: row.id, ...way });
  const hasPasskeys = (await countPasskeys(tx, row.id)) > 0;
  return { uid: row.id, email: row.email, pendingCredential, factorSince: since, hasPasskeys };
}

/**
 * Ends a half sign-in by a code of the app or a recovery code. Throws INVALID_MFA_PENDING_CREDENTIAL, INVALID_CODE,
 * TOO_MANY_ATTEMPTS_TRY_LATER, USER_DISABLED.
 */
export async function finishSignIn(
  deps: LocalDeps,
  pendingCredential: string,
  code: string,
  device: Device,
  { trustBrowser: isToBeTrusted = false }: Trust = {},
): Promise<Tokens> {
  const pending = await tryPendingSignIn(deps.db, pendingCredential);
  if (!pending) throw new IdentityError("INVALID_MFA_PENDING_CREDENTIAL");
  await countCode(deps, pending.userId);
  const { row, session, trustedBrowser } = await deps.db.transaction().execute(async (tx) => {
    const row = await lockUser(tx, pending.userId);
    if (!row || row.disabled) throw new IdentityError("USER_DISABLED");
    if (!(await spendPendingSignIn(tx, pendingCredential))) throw new IdentityError("INVALID_MFA_PENDING_CREDENTIAL");
    await takeCode(tx, deps, row.id, code);
    const trustedBrowser = isToBeTrusted ? await trustBrowser(tx, row.id) : undefined;
    return { row, session: await startSession(tx, deps, row.id, pending, device), trustedBrowser };
  });
  await codeWasRight(deps, pending.userId);
  return { ...(await tokensOf(deps, row, session)), trustedBrowser };
}

/** Creates a single-use token for five minutes. Throws USER_NOT_FOUND. */
export async function createCustomToken({ db }: LocalDeps, uid: string, issuer: string | null = null): Promise<string> {
  const row = await findUser(db, { uid });
  if (!row) throw new IdentityError("USER_NOT_FOUND");
  return db.transaction().execute((tx) => createCode(tx, "SIGN_IN", row, issuer));
}

/** Throws INVALID_CUSTOM_TOKEN. */
export async function signInWithCustomToken(
  deps: LocalDeps,
  token: string,
  device: Device,
  { trustedBrowser = "" }: Trust = {},
): Promise<Tokens | HalfSignIn> {
  const { row, begun } = await deps.db.transaction().execute(async (tx) => {
    const row = await spendCode(tx, "SIGN_IN", token);
    if (!row) throw new IdentityError("INVALID_CUSTOM_TOKEN");
    const way = { provider: "custom", issuer: row.issuer } as const;
    return { row, begun: await beginSignIn(tx, deps, row, { ...way, device, trustedBrowser }) };
  });
  return "pendingCredential" in begun ? begun : tokensOf(deps, row, begun);
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
    return { row, session: await startSession(tx, deps, row.id, { provider: "password" }, device) };
  });
  return tokensOf(deps, row, session);
}

/** The tokens of a sign-in that has just begun or goes on. */
export async function tokensOf(
  { keys, origin, macKey }: LocalDeps,
  row: UserRow,
  session: AuthSession,
): Promise<Tokens> {
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
