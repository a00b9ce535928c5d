import { signup } from "@berth/contract";
import { call } from "../api/call.ts";
import { sessionOf } from "../api/current-token.ts";
import { signInWithCustomToken, signInWithPassword } from "../api/identity-client.ts";
import { readConfig } from "../api/product-config.ts";
import { saveSession } from "../api/session.ts";

/** Stores the session. @throws ApiError, IdentityError */
export async function login(account: { email: string; password: string }): Promise<void> {
  const { password } = account;
  const email = account.email.trim();
  const { identity } = await readConfig();
  saveSession(sessionOf(await signInWithPassword(identity, email, password), email));
}

/** Creates the account and signs in with its token (spec 7). @throws ApiError, IdentityError, Error */
export async function signUp(account: { email: string; password: string; name: string }): Promise<void> {
  const { password } = account;
  const [email, name] = [account.email.trim(), account.name.trim()];
  const { identity } = await readConfig();
  const { access_token } = await call(signup, { params: {}, body: { email, password, ...(name ? { name } : {}) } });
  if (!access_token) throw new Error("No access token received");
  saveSession(sessionOf(await signInWithCustomToken(identity, access_token), email));
}
