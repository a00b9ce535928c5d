import type { JWK } from "jose";
import type { Identity, IdentityUser } from "../identity.ts";
import { accounts } from "./accounts.ts";
import type { Device } from "./auth-sessions.ts";
import { type LocalOptions, localDeps } from "./local-deps.ts";
import { confirmEmail, createActionCode, readResetCode, resetPassword } from "./mailed-codes.ts";
import { changePassword, createCustomToken, refresh, signIn, signInWithCustomToken, type Tokens } from "./sign-ins.ts";
import { verifyIdToken, verifyPassword } from "./verify-credentials.ts";

/** What the dialect's routes need beyond the port. Each throws IdentityError, as the function of its name says. */
export interface LocalIdentity extends Identity {
  signIn(email: string, password: string, device: Device): Promise<Tokens>;
  signInWithCustomToken(token: string, device: Device): Promise<Tokens>;
  refresh(refreshToken: string): Promise<Tokens>;
  readResetCode(code: string): Promise<{ email: string }>;
  resetPassword(code: string, password: string, from?: string): Promise<{ email: string }>;
  confirmEmail(code: string): Promise<IdentityUser>;
  changePassword(idToken: string, password: string, device: Device): Promise<Tokens>;
  publishedKeys(): Promise<readonly JWK[]>;
}

/**
 * The provider that needs no other service: the dialect of a hosted one, answered from our own database
 * (docs/internals/identity.md).
 */
export function localIdentity(options: LocalOptions): LocalIdentity {
  const parts = localDeps(options);
  return {
    kind: "local",
    browserConfig() {
      const version = `${parts.baseUrl()}/v1`;
      return { apiKey: "local", accountsUrl: `${version}/accounts`, tokenUrl: `${version}/token` };
    },
    ...accounts(parts),
    createCustomToken: (uid) => createCustomToken(parts, uid),
    verifyIdToken: (token, how) => verifyIdToken(parts, token, how),
    async verifyPassword(email, password, from) {
      return { uid: (await verifyPassword(parts, email, password, from)).id };
    },
    createActionCode: (kind, email) => createActionCode(parts, kind, email),
    signIn: (email, password, device) => signIn(parts, email, password, device),
    signInWithCustomToken: (token, device) => signInWithCustomToken(parts, token, device),
    refresh: (refreshToken) => refresh(parts, refreshToken),
    readResetCode: (code) => readResetCode(parts, code),
    resetPassword: (code, password, from) => resetPassword(parts, code, password, from),
    confirmEmail: (code) => confirmEmail(parts, code),
    changePassword: (idToken, password, device) => changePassword(parts, idToken, password, device),
    publishedKeys: () => parts.keys.published(),
  };
}
