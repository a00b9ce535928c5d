import type { JWK } from "jose";
import type { Device, Identity, IdentityUser, Passkeys, SecondFactors } from "../identity.ts";
import { accounts } from "./accounts.ts";
import { type LocalOptions, localDeps } from "./local-deps.ts";
import { confirmEmail, createActionCode, readResetCode, resetPassword } from "./mailed-codes.ts";
import { passkeys } from "./passkeys.ts";
import { secondFactors } from "./second-factors.ts";
import {
  changePassword,
  createCustomToken,
  finishSignIn,
  type HalfSignIn,
  refresh,
  signIn,
  signInWithCustomToken,
  type Tokens,
  type Trust,
} from "./sign-ins.ts";
import { verifyIdToken, verifyPassword } from "./verify-credentials.ts";

/** Functions of the REST routes beyond the port. Each throws IdentityError as documented at the function of its name. */
export interface LocalIdentity extends Identity {
  readonly kind: "local";
  readonly secondFactors: SecondFactors;
  readonly passkeys: Passkeys;
  /** `issuer`: of the other provider's account that it is for. */
  createCustomToken(uid: string, issuer?: string): Promise<string>;
  signIn(email: string, password: string, device: Device, trust?: Trust): Promise<Tokens | HalfSignIn>;
  signInWithCustomToken(token: string, device: Device, trust?: Trust): Promise<Tokens | HalfSignIn>;
  finishSignIn(pendingCredential: string, code: string, device: Device, trust?: Trust): Promise<Tokens>;
  refresh(refreshToken: string): Promise<Tokens>;
  readResetCode(code: string): Promise<{ email: string }>;
  resetPassword(code: string, password: string, from?: string): Promise<{ email: string }>;
  confirmEmail(code: string): Promise<IdentityUser>;
  changePassword(idToken: string, password: string, device: Device): Promise<Tokens>;
  publishedKeys(): Promise<readonly JWK[]>;
}

/**
 * The identity provider that needs no other service: Firebase's REST API on our own database (docs/internals/identity.md).
 */
export function localIdentity(options: LocalOptions): LocalIdentity {
  const deps = localDeps(options);
  const kept = passkeys(deps);
  return {
    kind: "local",
    browserConfig() {
      const version = `${deps.baseUrl()}/v1`;
      return {
        apiKey: "local",
        accountsUrl: `${version}/accounts`,
        tokenUrl: `${version}/token`,
        passkeys: kept.unavailable() === null,
      };
    },
    ...accounts(deps),
    secondFactors: secondFactors(deps),
    passkeys: kept,
    createCustomToken: (uid, issuer) => createCustomToken(deps, uid, issuer),
    verifyIdToken: (token, how) => verifyIdToken(deps, token, how),
    async verifyPassword(email, password, from) {
      return { uid: (await verifyPassword(deps, email, password, from)).id };
    },
    createActionCode: (kind, email) => createActionCode(deps, kind, email),
    signIn: (email, password, device, trust) => signIn(deps, email, password, device, trust),
    signInWithCustomToken: (token, device, trust) => signInWithCustomToken(deps, token, device, trust),
    finishSignIn: (credential, code, device, trust) => finishSignIn(deps, credential, code, device, trust),
    refresh: (refreshToken) => refresh(deps, refreshToken),
    readResetCode: (code) => readResetCode(deps, code),
    resetPassword: (code, password, from) => resetPassword(deps, code, password, from),
    confirmEmail: (code) => confirmEmail(deps, code),
    changePassword: (idToken, password, device) => changePassword(deps, idToken, password, device),
    publishedKeys: () => deps.keys.published(),
  };
}
