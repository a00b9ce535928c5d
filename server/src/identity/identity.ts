import type { NewPasskey, PasskeyCreationOptions, PasskeyRequestOptions, UsedPasskey } from "@berth/contract";
import type { Tx } from "../database/database.ts";

export interface IdentityUser {
  readonly uid: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string | null;
  readonly disabled: boolean;
}

export interface IdentityClaims {
  readonly uid: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  /** Null where the provider has no sessions. */
  readonly sessionId: string | null;
}

export interface IdentitySession {
  readonly id: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date;
  readonly userAgent: string | null;
  readonly ip: string | null;
  readonly byPasskey: boolean;
  /** Of the other provider's account that it began with. */
  readonly issuer: string | null;
}

/** The client of a sign-in, for the list of devices. */
export interface Device {
  readonly userAgent?: string | undefined;
  readonly ip?: string | undefined;
  /** A token that the browser made and keeps, which tells it from others (G427). */
  readonly browser?: string | undefined;
}

export type ActionKind = "PASSWORD_RESET" | "VERIFY_EMAIL";

export type IdentityErrorCode =
  | "EMAIL_EXISTS"
  | "WEAK_PASSWORD"
  | "MISSING_PASSWORD"
  | "INVALID_EMAIL"
  | "INVALID_LOGIN_CREDENTIALS"
  | "USER_NOT_FOUND"
  | "USER_DISABLED"
  | "INVALID_ID_TOKEN"
  | "TOKEN_REVOKED"
  | "TOKEN_EXPIRED"
  | "INVALID_OOB_CODE"
  | "EXPIRED_OOB_CODE"
  | "INVALID_CUSTOM_TOKEN"
  | "INVALID_REFRESH_TOKEN"
  | "CREDENTIAL_TOO_OLD_LOGIN_AGAIN"
  | "INVALID_MFA_PENDING_CREDENTIAL"
  | "INVALID_CODE"
  | "SECOND_FACTOR_EXISTS"
  | "MFA_ENROLLMENT_NOT_FOUND"
  | "TOO_MANY_ATTEMPTS_TRY_LATER"
  | "UNSUPPORTED"
  | "UNAVAILABLE";

interface Details extends ErrorOptions {
  readonly retryAfterSeconds?: number;
}

export class IdentityError extends Error {
  readonly code: IdentityErrorCode;
  /** Of TOO_MANY_ATTEMPTS_TRY_LATER and UNAVAILABLE, where it is known. */
  readonly retryAfterSeconds: number | undefined;

  constructor(code: IdentityErrorCode, { retryAfterSeconds, ...options }: Details = {}) {
    super(code, options);
    this.name = "IdentityError";
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface UserPatch {
  readonly email?: string;
  readonly password?: string;
  readonly name?: string;
  readonly emailVerified?: boolean;
  readonly disabled?: boolean;
}

/** The second factors of accounts: an authenticator app and recovery codes (G398, G399). */
export interface SecondFactors {
  read(uid: string): Promise<{ readonly since: Date | null; readonly recoveryCodes: number }>;
  /** Whether nobody has this sign-in by a password alone: the account has a factor, or it began with a passkey (G433). */
  isHeld(uid: string, sessionId: string | null): Promise<boolean>;
  /** Returns a new secret in base32, which counts once a code of it was confirmed. Throws SECOND_FACTOR_EXISTS. */
  begin(uid: string): Promise<string>;
  /**
   * Turns the factor on and ends every sign-in but `keepSession`. Returns the recovery codes. Throws INVALID_CODE,
   * MFA_ENROLLMENT_NOT_FOUND, SECOND_FACTOR_EXISTS, TOO_MANY_ATTEMPTS_TRY_LATER.
   */
  confirm(uid: string, code: string, keepSession: string | null): Promise<readonly string[]>;
  /** Replaces the recovery codes. Throws INVALID_CODE, MFA_ENROLLMENT_NOT_FOUND, TOO_MANY_ATTEMPTS_TRY_LATER. */
  renewRecoveryCodes(uid: string, code: string): Promise<readonly string[]>;
  /** Turns the factor off and ends every sign-in but `keepSession`. Throws what `renewRecoveryCodes` throws. */
  remove(uid: string, code: string, keepSession: string | null): Promise<void>;
}

/** A passkey as its owner sees it. */
export interface KeptPasskey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly isBackedUp: boolean;
}

/** Who changes passkeys: an account by one of its sign-ins. `from` is the client's IP address. */
export interface PasskeyOwner {
  readonly uid: string;
  readonly email: string;
  readonly sessionId: string | null;
  readonly from: string;
}

export interface Proof {
  readonly password?: string | undefined;
  readonly code?: string | undefined;
}

/** A sign-in that is complete. */
interface SignedIn {
  readonly uid: string;
  readonly email: string;
  readonly idToken: string;
  readonly refreshToken: string;
  readonly expiresInSeconds: number;
}

/** The passkeys of accounts (G424). Refusals of a passkey are AppErrors with a sentence. */
export interface Passkeys {
  /** Why the product's address allows none; null: it does. */
  unavailable(): string | null;
  list(uid: string): Promise<readonly KeptPasskey[]>;
  proofOf(uid: string): Promise<"password" | "code">;
  /** `site` is the product's name. Throws INVALID_LOGIN_CREDENTIALS, INVALID_CODE, TOO_MANY_ATTEMPTS_TRY_LATER. */
  begin(owner: PasskeyOwner, proof: Proof, site: string): Promise<PasskeyCreationOptions>;
  add(owner: PasskeyOwner, name: string, credential: NewPasskey): Promise<KeptPasskey>;
  /** Throws what `begin` throws. */
  remove(owner: PasskeyOwner, id: string, proof: Proof): Promise<void>;
  beginSignIn(): Promise<PasskeyRequestOptions>;
  /** Throws USER_DISABLED, TOO_MANY_ATTEMPTS_TRY_LATER. */
  signIn(credential: UsedPasskey, device: Device): Promise<SignedIn>;
}

/** The port to an identity provider (docs/internals/identity.md). */
export interface Identity {
  readonly kind: "local" | "firebase";
  /** Base URLs of the REST API that the browser calls (docs/internals/identity.md). */
  browserConfig(): {
    readonly apiKey: string;
    readonly accountsUrl: string;
    readonly tokenUrl: string;
    readonly tenantId?: string;
    /** Whether a sign-in by passkey is offered. */
    readonly passkeys?: boolean;
  };
  /** `from` is the client's IP address. Throws EMAIL_EXISTS, INVALID_EMAIL, WEAK_PASSWORD, TOO_MANY_ATTEMPTS_TRY_LATER. */
  createUser(input: {
    email: string;
    password: string;
    name?: string | undefined;
    from?: string | undefined;
  }): Promise<IdentityUser>;
  createCustomToken(uid: string): Promise<string>;
  /**
   * Throws INVALID_ID_TOKEN, TOKEN_EXPIRED, TOKEN_REVOKED, USER_DISABLED, UNAVAILABLE, and EMAIL_EXISTS for a hosted account
   * with another account's address. With `checkRevoked` the claims are current, without it as signed. `device` is noted with
   * a sign-in that a hosted provider made.
   */
  verifyIdToken(token: string, options?: { checkRevoked?: boolean; device?: Device }): Promise<IdentityClaims>;
  getUser(by: { uid: string } | { email: string }): Promise<IdentityUser | null>;
  /**
   * A new password or `disabled` ends every sign-in except `keepSession`, and others' access to the user's environments
   * (G109). Throws USER_NOT_FOUND and what createUser throws.
   */
  updateUser(
    uid: string,
    patch: UserPatch,
    options?: { keepSession?: string | undefined; from?: string | undefined },
  ): Promise<IdentityUser>;
  /**
   * Ends every sign-in; an unknown user is no error. Joins `tx` if the provider keeps its users in this database, so that
   * an account is deleted atomically.
   */
  deleteUser(uid: string, tx?: Tx): Promise<void>;
  /**
   * Throws INVALID_LOGIN_CREDENTIALS, USER_DISABLED, TOO_MANY_ATTEMPTS_TRY_LATER; an unknown user takes the same time.
   * `from` is the client's IP address; attempts are rate-limited by address and account (G91).
   */
  verifyPassword(email: string, password: string, from?: string): Promise<{ uid: string }>;
  /** Null: a hosted provider keeps them, with screens of its own. */
  readonly secondFactors: SecondFactors | null;
  /** Null: a hosted provider has none. */
  readonly passkeys: Passkeys | null;
  /** Null: no such user; the caller must respond the same either way. */
  createActionCode(kind: ActionKind, email: string): Promise<string | null>;
  /** The last used first, fifty at most. */
  listSessions(uid: string): Promise<readonly IdentitySession[]>;
  /** Ends one or all sign-ins, with their environment grants (P13). */
  revokeSessions(uid: string, sessionId?: string): Promise<void>;
  /** Ends every sign-in but `keep`, and trust in browsers (G401). */
  revokeOtherSessions(uid: string, keep: string | null): Promise<void>;
}
