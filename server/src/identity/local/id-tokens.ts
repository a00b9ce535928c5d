import { JWTExpired } from "jose/errors";
import { SignJWT } from "jose/jwt/sign";
import { jwtVerify } from "jose/jwt/verify";
import { type IdentityClaims, IdentityError, type IdentityUser } from "../identity.ts";
import type { AuthSession } from "./auth-sessions.ts";
import { algorithm, type SigningKeys } from "./signing-keys.ts";

export const idTokenSeconds = 3_600;

/** Issuer and audience; tokens of another installation or for another purpose do not verify. */
export interface Origin {
  readonly issuer: string;
  readonly audience: string;
}

export interface IdTokenClaims extends IdentityClaims {
  readonly sessionId: string;
  /** Time of the sign-in, not of the token's refresh. */
  readonly authTime: Date;
}

export async function signIdToken(
  keys: SigningKeys,
  { issuer, audience }: Origin,
  user: IdentityUser,
  session: Pick<AuthSession, "id" | "authTime" | "provider">,
): Promise<string> {
  const { kid, key } = await keys.current();
  const issuedAt = Math.floor(Date.now() / 1000);
  return new SignJWT({
    email: user.email,
    email_verified: user.emailVerified,
    ...(user.name && { name: user.name }),
    user_id: user.uid,
    sid: session.id,
    firebase: { identities: { email: [user.email] }, sign_in_provider: session.provider },
    auth_time: Math.floor(session.authTime.getTime() / 1000),
  })
    .setProtectedHeader({ alg: algorithm, kid, typ: "JWT" })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(user.uid)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + idTokenSeconds)
    .sign(key);
}

/** Cache size of verified tokens: a browser sends the same token for 50 minutes. */
const maxVerified = 10_000;

/**
 * Verifies ID tokens and caches the result. Throws INVALID_ID_TOKEN, TOKEN_EXPIRED, or UNAVAILABLE when the keys cannot be
 * read.
 */
export function idTokenReader(keys: SigningKeys, origin: () => Origin): (token: string) => Promise<IdTokenClaims> {
  const verified = new Map<string, IdTokenClaims & { readonly expiresAt: Date }>();
  return async (token) => {
    const known = verified.get(token);
    if (known && known.expiresAt.getTime() > Date.now()) return known;
    verified.delete(token);
    const claims = await verify(keys, origin(), token);
    verified.set(token, claims);
    if (verified.size > maxVerified) verified.delete(verified.keys().next().value ?? "");
    return claims;
  };
}

async function verify(keys: SigningKeys, origin: Origin, token: string) {
  try {
    const { payload } = await jwtVerify(token, ({ kid }) => keyOf(keys, kid), {
      ...origin,
      typ: "JWT",
      algorithms: [algorithm],
      requiredClaims: ["sub", "exp", "sid", "auth_time"],
    });
    return {
      uid: String(payload.sub),
      email: String(payload["email"]),
      emailVerified: payload["email_verified"] === true,
      name: typeof payload["name"] === "string" ? payload["name"] : "",
      sessionId: String(payload["sid"]),
      authTime: new Date(Number(payload["auth_time"]) * 1000),
      expiresAt: new Date(Number(payload["exp"]) * 1000),
    };
  } catch (cause) {
    if (cause instanceof IdentityError) throw cause;
    throw new IdentityError(cause instanceof JWTExpired ? "TOKEN_EXPIRED" : "INVALID_ID_TOKEN", { cause });
  }
}

async function keyOf(keys: SigningKeys, kid: string | undefined) {
  const key = await keys.find(kid ?? "").catch((cause) => {
    throw new IdentityError("UNAVAILABLE", { cause });
  });
  if (!key) throw new IdentityError("INVALID_ID_TOKEN");
  return key;
}
