import { ApiError } from "./api-error.ts";
import { exchangeRefreshToken, IdentityError, signInWithPassword, type Tokens } from "./identity-client.ts";
import { readConfig } from "./product-config.ts";
import { readSession, type Session, saveSession, signOut } from "./session.ts";

/** Tokens last 60 minutes (spec 9). */
const refreshEveryMs = 50 * 60_000;
const tokenLifeMs = 60 * 60_000;
const checkEveryMs = 30_000;

/** The provider's codes for an ended sign-in; other errors are temporary (docs/internals/identity.md). */
const finalCodes = new Set([
  "TOKEN_EXPIRED",
  "INVALID_REFRESH_TOKEN",
  "INVALID_GRANT_TYPE",
  "MISSING_REFRESH_TOKEN",
  "USER_DISABLED",
  "USER_NOT_FOUND",
]);

let running: Promise<string> | undefined;

/** The token to send. Refreshes an old one first; returns the old one if that fails temporarily. */
export async function currentToken(): Promise<string> {
  const session = readSession();
  if (!session) throw signedOut();
  if (!isDue(session, Date.now())) return session.idToken;
  try {
    return await refreshToken(session.idToken);
  } catch (error) {
    if (!readSession()) throw error;
    return session.idToken;
  }
}

/** A token other than `used`. Only one tab refreshes at a time. Removes an ended session. */
export function refreshToken(used: string): Promise<string> {
  running ??= locked(() => replace(used)).finally(() => {
    running = undefined;
  });
  return running;
}

/** Refreshes the token while a page is open; checks on `visibilitychange` too, because timers stop during sleep. */
export function startRefreshing(): () => void {
  const check = () => void currentToken().catch(() => undefined);
  const timer = setInterval(check, checkEveryMs);
  document.addEventListener("visibilitychange", check);
  return () => {
    clearInterval(timer);
    document.removeEventListener("visibilitychange", check);
  };
}

function isDue(session: Session, now: number): boolean {
  return session.expiresAt - now <= tokenLifeMs - refreshEveryMs;
}

export function sessionOf(tokens: Tokens, email: string): Session {
  const { idToken, refreshToken: refresh, expiresAt, userId } = tokens;
  return { idToken, refreshToken: refresh, expiresAt, userId, email };
}

/** A new password ends the refresh tokens of a hosted provider, this browser's too (docs/internals/identity.md). */
export async function signInAgain(password: string): Promise<void> {
  const { identity } = await readConfig();
  const session = readSession();
  if (identity.kind === "local" || !session) return;
  const tokens = await signInWithPassword(identity, session.email, password);
  // With a second factor the sign-in ends within the hour; its owner then signs in with a code.
  if ("userId" in tokens && readSession()?.userId === tokens.userId) saveSession(sessionOf(tokens, session.email));
}

async function replace(used: string): Promise<string> {
  const session = readSession();
  if (!session) throw signedOut();
  // Another tab refreshed while this one waited for the lock.
  if (session.idToken !== used) return session.idToken;
  try {
    const { identity } = await readConfig();
    const tokens = await exchangeRefreshToken(identity, session.refreshToken);
    // The user signed out, or in as somebody else, during the refresh.
    if (readSession()?.refreshToken !== session.refreshToken) throw signedOut();
    saveSession(sessionOf(tokens, session.email));
    return tokens.idToken;
  } catch (error) {
    throw errorOfRefresh(error, session);
  }
}

function errorOfRefresh(error: unknown, session: Session): unknown {
  if (!(error instanceof IdentityError)) return error;
  if (!finalCodes.has(error.code)) return new ApiError("network", "The sign-in could not be renewed", 0);
  if (readSession()?.refreshToken === session.refreshToken) signOut();
  return signedOut();
}

function locked(run: () => Promise<string>): Promise<string> {
  return globalThis.navigator?.locks ? navigator.locks.request("identity-refresh", run) : run();
}

function signedOut(): ApiError {
  return new ApiError("unauthenticated", "Sign in first", 401);
}
