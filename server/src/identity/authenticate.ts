import type { FastifyRequest } from "fastify";
import { AppError } from "../app-error.ts";
import { bearerOf, type User } from "../http/request-user.ts";
import { type Identity, IdentityError, type IdentityErrorCode } from "./identity.ts";

const doesNotHold: readonly IdentityErrorCode[] = [
  "INVALID_ID_TOKEN",
  "TOKEN_EXPIRED",
  "TOKEN_REVOKED",
  "USER_DISABLED",
];

/**
 * Bearer token to user, revocation included, so that a sign-out ends access at once (P13). Undefined
 * without a token or with one that does not hold; throws `unavailable` when that cannot be told, because a sign-out on
 * every outage would be worse.
 */
export function authenticate(identity: Identity): (request: FastifyRequest) => Promise<User | undefined> {
  return async (request) => {
    const token = bearerOf(request);
    if (token === undefined) return undefined;
    try {
      const { uid, email, emailVerified, name, sessionId } = await identity.verifyIdToken(token, {
        checkRevoked: true,
      });
      return { id: uid, email, emailVerified, name, sessionId };
    } catch (cause) {
      if (!(cause instanceof IdentityError)) throw cause;
      if (doesNotHold.includes(cause.code)) return undefined;
      throw new AppError("unavailable", "Sign-ins cannot be checked right now. Try again in a moment.", {
        cause,
        retryAfterSeconds: 5,
      });
    }
  };
}
