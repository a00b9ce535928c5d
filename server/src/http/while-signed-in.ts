import type { FastifyRequest } from "fastify";
import type { Changes } from "../database/changes.ts";
import { userOf } from "./request-user.ts";

export interface SignedInParts {
  readonly changes: Changes;
  /** Whether a request's token still holds. */
  readonly isSignedIn: (request: FastifyRequest) => Promise<boolean>;
}

/**
 * Ends a stream when the sign-in that opened it ends (G109, P13): as soon as its row says so, and where
 * that may not have been heard, by asking. Until the answer is called.
 */
export function whileSignedIn(
  { changes, isSignedIn }: SignedInParts,
  request: FastifyRequest,
  end: () => void,
): () => void {
  const { id: userId, sessionId } = userOf(request);
  // An outage is no sign-out.
  const ask = () =>
    void isSignedIn(request).then(
      (holds) => holds || end(),
      () => {},
    );
  const unsubscribe = changes.subscribeUser(
    userId,
    ({ kind, id }) => {
      if (kind === "session" && id === sessionId) end();
    },
    ask,
  );
  // It may have ended between the check of its token and this line.
  ask();
  return unsubscribe;
}
