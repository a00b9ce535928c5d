import type { ProductConfig } from "@berth/contract";
import { bounded } from "./bounded.ts";
import { browserToken } from "./browser-token.ts";
import { readStorage, writeStorage } from "./storage.ts";

/** The identity provider's addresses, from `GET /config`. */
export type IdentityConfig = ProductConfig["identity"];

export interface Tokens {
  readonly idToken: string;
  readonly refreshToken: string;
  /** Milliseconds since the epoch, by this browser's clock. */
  readonly expiresAt: number;
  readonly userId: string;
}

/** Stays after a sign-out; the server knows until when it counts. */
const trustKey = "trustedBrowser";

/** A refusal with the provider's code (docs/internals/identity.md), or `NETWORK` without a reply. */
export class IdentityError extends Error {
  readonly code: string;
  /** HTTP status; 0 without a reply. */
  readonly status: number;
  /** The provider's text for people; empty if it sent a code. */
  readonly text: string;

  constructor(code: string, status: number, text = "") {
    super(text || code);
    this.name = "IdentityError";
    this.code = code;
    this.status = status;
    this.text = text;
  }
}

/** True if the provider refused; false for a network or server error. */
export function isRefusal(error: unknown): boolean {
  return error instanceof IdentityError && error.status >= 400 && error.status < 500 && error.status !== 429;
}

type Answer = Readonly<Record<string, unknown>>;

/** A sign-in whose password was right, and which needs a code of the second factor (G398). */
export interface HalfSignIn {
  readonly pendingCredential: string;
  readonly factorId: string;
  /** A passkey logs in instead (G424). */
  readonly hasPasskeys: boolean;
}

export async function signInWithPassword(
  config: IdentityConfig,
  email: string,
  password: string,
): Promise<Tokens | HalfSignIn> {
  const trust = trustOf(config);
  const answer = await account(config, "signInWithPassword", { email, password, returnSecureToken: true, ...trust });
  return halfOf(answer) ?? tokensOf(answer);
}

/**
 * A code of the authenticator app. Berth's own provider takes a recovery code too, and `trust`: no code is asked in this
 * browser for 30 days then (G401).
 */
export async function finishSignIn(
  config: IdentityConfig,
  half: HalfSignIn,
  code: string,
  trust = false,
): Promise<Tokens> {
  const answer = await post(
    config,
    `${config.accountsUrl.replace(/\/v1\/accounts$/, "/v2/accounts")}/mfaSignIn:finalize`,
    inTenant(config, {
      mfaPendingCredential: half.pendingCredential,
      mfaEnrollmentId: half.factorId,
      totpVerificationInfo: { verificationCode: code },
      ...(trust && { trustBrowser: true }),
    }),
  );
  if (typeof answer["trustedBrowser"] === "string") writeStorage(trustKey, answer["trustedBrowser"]);
  return tokensOf(answer);
}

/** The token of a sign-up (spec 7.1) or of another provider's sign-in. */
export async function signInWithCustomToken(config: IdentityConfig, token: string): Promise<Tokens | HalfSignIn> {
  const answer = await account(config, "signInWithCustomToken", { token, returnSecureToken: true, ...trustOf(config) });
  return halfOf(answer) ?? tokensOf(answer);
}

/** What makes a code needless in this browser (G401). */
function trustOf({ kind }: IdentityConfig): Answer {
  const trustedBrowser = kind === "local" ? readStorage(trustKey) : null;
  return trustedBrowser ? { trustedBrowser } : {};
}

/** Also returns a new refresh token, which replaces the old one. */
export async function exchangeRefreshToken(config: IdentityConfig, refreshToken: string): Promise<Tokens> {
  const form = new URLSearchParams({ grant_type: "refresh_token", refresh_token: refreshToken });
  const answer = await post(config, config.tokenUrl, form);
  return tokensOf({
    idToken: answer["id_token"],
    refreshToken: answer["refresh_token"],
    expiresIn: answer["expires_in"],
    localId: answer["user_id"],
  });
}

/** Returns the account of a code without using it up. @throws IdentityError INVALID_OOB_CODE, EXPIRED_OOB_CODE, USER_DISABLED */
export async function verifyResetCode(config: IdentityConfig, code: string): Promise<{ email: string }> {
  const { email } = await account(config, "resetPassword", { oobCode: code });
  return { email: String(email ?? "") };
}

/** Uses the code up, except on WEAK_PASSWORD. @throws IdentityError as `verifyResetCode`, and WEAK_PASSWORD */
export async function confirmReset(config: IdentityConfig, code: string, newPassword: string): Promise<void> {
  await account(config, "resetPassword", { oobCode: code, newPassword });
}

/** Confirms an address and uses the code up. @throws IdentityError as `verifyResetCode` */
export async function confirmAddress(config: IdentityConfig, code: string): Promise<void> {
  await account(config, "update", { oobCode: code });
}

function account(config: IdentityConfig, method: string, body: Answer): Promise<Answer> {
  return post(config, `${config.accountsUrl}:${method}`, inTenant(config, body));
}

function inTenant({ tenantId }: IdentityConfig, body: Answer): string {
  return JSON.stringify(tenantId ? { ...body, tenantId } : body);
}

function halfOf({ mfaPendingCredential, mfaInfo }: Answer): HalfSignIn | undefined {
  if (typeof mfaPendingCredential !== "string") return undefined;
  const factors = Array.isArray(mfaInfo) ? (mfaInfo as Answer[]) : [];
  const app = factors.find(({ totpInfo }) => totpInfo !== undefined);
  return {
    pendingCredential: mfaPendingCredential,
    factorId: String(app?.["mfaEnrollmentId"] ?? ""),
    hasPasskeys: factors.some(({ mfaEnrollmentId }) => mfaEnrollmentId === "passkey"),
  };
}

async function post(config: IdentityConfig, url: string, body: string | URLSearchParams): Promise<Answer> {
  const signal = bounded();
  const response = await fetch(`${url}?key=${encodeURIComponent(config.apiKey)}`, {
    method: "POST",
    credentials: "omit",
    headers: {
      accept: "application/json",
      "content-type": typeof body === "string" ? "application/json" : "application/x-www-form-urlencoded",
      // A hosted provider refuses headers that it does not know.
      ...(config.kind === "local" && { "berth-browser": browserToken() }),
    },
    body,
    signal,
  }).catch(noAnswer);
  const answer = (await response.json().catch(() => (signal.aborted ? noAnswer() : {}))) as Answer;
  if (!response.ok) throw refusal(answer, response.status);
  return answer;
}

function noAnswer(): never {
  throw new IdentityError("NETWORK", 0);
}

/** Codes come as `CODE`, `CODE : text` or `CODE: text`; anything else is a message. */
function refusal(answer: Answer, status: number): IdentityError {
  const error = answer["error"] as { message?: unknown } | undefined;
  const message = String(error?.message ?? "UNAVAILABLE");
  const code = /^[A-Z][A-Z0-9_]+(?=$| ?:)/.exec(message)?.[0];
  if (code === undefined) return new IdentityError("UNAVAILABLE", status, message);
  // Berth's own provider names the address to write to (G119).
  return new IdentityError(
    code,
    status,
    code === "USER_DISABLED" ? message.slice(code.length).replace(/^ ?: ?/, "") : "",
  );
}

/** The token's subject, because Google's reply to a custom token has no user id. */
function tokensOf(answer: Answer): Tokens {
  const idToken = String(answer["idToken"]);
  const userId = typeof answer["localId"] === "string" ? answer["localId"] : subjectOf(idToken);
  if (!answer["idToken"] || !answer["refreshToken"] || !userId) throw new IdentityError("UNAVAILABLE", 200);
  return {
    idToken,
    refreshToken: String(answer["refreshToken"]),
    expiresAt: Date.now() + Number(answer["expiresIn"] ?? 3600) * 1000,
    userId,
  };
}

function subjectOf(token: string): string | undefined {
  const payload = token.split(".")[1]?.replace(/-/g, "+").replace(/_/g, "/");
  try {
    return payload ? (JSON.parse(atob(payload)) as { sub?: string }).sub : undefined;
  } catch {
    return undefined;
  }
}
