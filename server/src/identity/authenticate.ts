import type { FastifyRequest } from "fastify";
import { AppError } from "../app-error.ts";
import { bearerOf, type User } from "../http/request-user.ts";
import { type Identity, IdentityError, type IdentityErrorCode } from "./identity.ts";
import { refusalOf } from "./refusal-of.ts";

const invalidTokenCodes: readonly IdentityErrorCode[] = [
  "INVALID_ID_TOKEN",
  "TOKEN_EXPIRED",
  "TOKEN_REVOKED",
  "USER_DISABLED",
];

/**
 * Returns the user of the bearer token. Checks revocation, so that a sign-out ends access at once (P13). Undefined without
 * a valid token; throws `unavailable` when it cannot be verified, because an outage must not sign users out.
 */
export function authenticate(identity: Identity): (request: FastifyRequest) => Promise<User | undefined> {
  return async (request) => {
    const token = bearerOf(request);
    if (token === undefined) return undefined;
    try {
      const { uid, email, emailVerified, name, sessionId } = await identity.verifyIdToken(token, {
        checkRevoked: true,
        device: { userAgent: request.headers["user-agent"], ip: request.ip },
      });
      return { id: uid, email, emailVerified, name, sessionId };
    } catch (cause) {
      if (!(cause instanceof IdentityError)) throw cause;
      if (invalidTokenCodes.includes(cause.code)) return undefined;
      if (cause.code === "EMAIL_EXISTS") throw refusalOf(cause) ?? cause;
      throw new AppError("unavailable", "Sign-ins cannot be checked right now. Try again in a moment.", {
        cause,
        retryAfterSeconds: 5,
      });
    }
  };
}
