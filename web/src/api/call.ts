import type { AnyEndpoint, Input, ReplyOf } from "@berth/contract";
import { ApiError } from "./api-error.ts";
import { currentToken, refreshToken } from "./current-token.ts";
import { type SendOptions, send } from "./send.ts";
import { readSession, signOut } from "./session.ts";

export { ApiError } from "./api-error.ts";

/**
 * Calls one contract endpoint; the reply's type is the one the server is held to.
 * A 401 is answered by one refresh and one repetition, then by signing out. Trouble on the way never signs out (G45).
 */
export async function call<E extends AnyEndpoint>(
  endpoint: E,
  input: Input<E>,
  options: Pick<SendOptions, "signal"> = {},
): Promise<ReplyOf<E>> {
  if (endpoint.auth === "none") return send(endpoint, input, options);
  return withToken((token) => send(endpoint, input, { ...options, token }));
}

/** Runs a request with the session's token, under the same rules as `call`; for what is not JSON (the event stream). */
export async function withToken<Answer>(request: (token: string) => Promise<Answer>): Promise<Answer> {
  const token = await currentToken();
  try {
    return await request(token);
  } catch (error) {
    if (!isUnauthenticated(error)) throw error;
    return await repeat(request, await refreshToken(token));
  }
}

async function repeat<Answer>(request: (token: string) => Promise<Answer>, token: string): Promise<Answer> {
  try {
    return await request(token);
  } catch (error) {
    // Only if this very token was refused: somebody may have signed in anew meanwhile.
    if (isUnauthenticated(error) && readSession()?.idToken === token) signOut();
    throw error;
  }
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.code === "unauthenticated");
}

/** What the server said of a failure, for people; `unanswered` where nothing came from it. */
export function messageOf(error: unknown, unanswered = "No answer from the server."): string {
  if (!(error instanceof ApiError) || error.status === 0) return unanswered;
  return error.message || "The server gave no reason.";
}
