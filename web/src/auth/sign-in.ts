import { finishProviderSignIn, signup } from "@berth/contract";
import { call } from "../api/call.ts";
import { sessionOf } from "../api/current-token.ts";
import {
  finishSignIn,
  type HalfSignIn,
  type IdentityConfig,
  signInWithCustomToken,
  signInWithPassword,
} from "../api/identity-client.ts";
import { readConfig } from "../api/product-config.ts";
import { saveSession } from "../api/session.ts";

/** A half sign-in with the address that was typed. */
export interface WaitingLogin extends HalfSignIn {
  readonly email: string;
}

/** Stores the session, or returns what a code is sent with. @throws ApiError, IdentityError */
export async function login(account: { email: string; password: string }): Promise<WaitingLogin | undefined> {
  const { password } = account;
  const email = account.email.trim();
  const { identity } = await readConfig();
  const begun = await signInWithPassword(identity, email, password);
  if ("pendingCredential" in begun) return { ...begun, email };
  saveSession(sessionOf(begun, email));
  return undefined;
}

/** Stores the session. @throws ApiError, IdentityError */
export async function loginWithCode(waiting: WaitingLogin, code: string, trust: boolean): Promise<void> {
  const { identity } = await readConfig();
  saveSession(sessionOf(await finishSignIn(identity, waiting, code, trust), waiting.email));
}

/** Creates the account and signs in with its token (spec 7). @throws ApiError, IdentityError, Error */
export async function signUp(account: { email: string; password: string; name: string }): Promise<void> {
  const { password } = account;
  const [email, name] = [account.email.trim(), account.name.trim()];
  const { identity } = await readConfig();
  const { access_token } = await call(signup, { params: {}, body: { email, password, ...(name ? { name } : {}) } });
  if (!access_token) throw new Error("No access token received");
  await enter(identity, access_token, email);
}

/** Ends a sign-in by another provider (G416). Stores the session, or returns what a code is sent with. @throws ApiError, IdentityError */
export async function loginByProvider(code: string): Promise<WaitingLogin | undefined> {
  const { identity } = await readConfig();
  const { access_token, email } = await call(
    finishProviderSignIn,
    { params: {}, body: { code } },
    { withCookies: true },
  );
  return enter(identity, access_token, email);
}

async function enter(identity: IdentityConfig, token: string, email: string): Promise<WaitingLogin | undefined> {
  const begun = await signInWithCustomToken(identity, token);
  if ("pendingCredential" in begun) return { ...begun, email };
  saveSession(sessionOf(begun, email));
  return undefined;
}
