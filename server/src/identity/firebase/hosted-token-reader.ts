import { errors, type JWTPayload, jwtVerify, UnsecuredJWT } from "jose";
import { IdentityError } from "../identity.ts";
import type { SignInProvider } from "../local/auth-sessions.ts";
import { type FirebaseProject, hostedIdPattern } from "./firebase-project.ts";
import { keySet } from "./key-set.ts";

/** What an ID token says about the account and its sign-in. */
export interface HostedClaims {
  readonly uid: string;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  /** Of the sign-in, in whole seconds; the same in every token that it is refreshed to. */
  readonly authTime: Date;
  readonly provider: SignInProvider;
}

/** Clocks may differ by so much. */
const clockTolerance = 60;

/**
 * Verifies an ID token of the project: signed by one of the provider's keys, by RS256 alone, for an hour. Throws
 * INVALID_ID_TOKEN, TOKEN_EXPIRED, UNAVAILABLE. An emulator signs none of its tokens, so they are only read.
 */
export function hostedTokenReader(
  { projectId, emulator }: FirebaseProject,
  keysUrl: string,
): (token: string) => Promise<HostedClaims> {
  const keys = keySet(keysUrl);
  const claims = {
    issuer: `https://securetoken.google.com/${projectId}`,
    audience: projectId,
    maxTokenAge: "1h",
    clockTolerance,
    requiredClaims: ["sub", "exp", "auth_time"],
  };
  const read = async (token: string): Promise<JWTPayload> =>
    emulator === undefined
      ? (await jwtVerify(token, keys, { ...claims, algorithms: ["RS256"] })).payload
      : UnsecuredJWT.decode(token, claims).payload;
  return async (token) => {
    try {
      return claimsOf(await read(token));
    } catch (cause) {
      if (cause instanceof IdentityError) throw cause;
      throw new IdentityError(cause instanceof errors.JWTExpired ? "TOKEN_EXPIRED" : "INVALID_ID_TOKEN", { cause });
    }
  };
}

function claimsOf({ sub = "", ...payload }: JWTPayload): HostedClaims {
  const authTime = Number(payload["auth_time"]);
  const { sign_in_provider: provider } = (payload["firebase"] ?? {}) as { sign_in_provider?: unknown };
  const isPast = authTime <= Date.now() / 1000 + clockTolerance;
  if (!hostedIdPattern.test(sub) || !isPast) throw new IdentityError("INVALID_ID_TOKEN");
  return {
    uid: sub,
    email: String(payload["email"] ?? ""),
    emailVerified: payload["email_verified"] === true,
    name: typeof payload["name"] === "string" ? payload["name"] : "",
    authTime: new Date(Math.floor(authTime) * 1000),
    provider: provider === "custom" ? "custom" : "password",
  };
}
