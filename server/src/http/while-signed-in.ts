import type { FastifyRequest } from "fastify";
import type { Changes } from "../database/changes.ts";
import { userOf } from "./request-user.ts";

export interface SignedInDeps {
  readonly changes: Changes;
  /** Whether a request's token is still valid. */
  readonly isSignedIn: (request: FastifyRequest) => Promise<boolean>;
}

/**
 * Calls `end` when the sign-in that opened a stream ends (G109, P13): on its notification, and after a lost connection by
 * checking the token again. Returns the unsubscribe function.
 */
export function whileSignedIn(
  { changes, isSignedIn }: SignedInDeps,
  request: FastifyRequest,
  end: () => void,
): () => void {
  const { id: userId, sessionId } = userOf(request);
  // A failed check is no sign-out.
  const check = () =>
    void isSignedIn(request).then(
      (isValid) => isValid || end(),
      () => {},
    );
  const unsubscribe = changes.subscribeUser(
    userId,
    ({ kind, id }) => {
      if (kind === "session" && id === sessionId) end();
    },
    check,
  );
  // The sign-in may have ended between the check of its token and the subscription.
  check();
  return unsubscribe;
}
