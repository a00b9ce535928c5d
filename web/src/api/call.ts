import type { AnyEndpoint, Input, ReplyOf } from "@berth/contract";
import { ApiError } from "./api-error.ts";
import { currentToken, refreshToken } from "./current-token.ts";
import { type SendOptions, send } from "./send.ts";
import { readSession, signOut } from "./session.ts";

/**
 * Calls one contract endpoint. After a 401 it refreshes the token and repeats the call once, then signs out. A network
 * error never signs out (G45).
 */
export async function call<E extends AnyEndpoint>(
  endpoint: E,
  input: Input<E>,
  options: Pick<SendOptions, "signal" | "withCookies" | "browser" | "withinMs"> = {},
): Promise<ReplyOf<E>> {
  if (endpoint.auth === "none") return send(endpoint, input, options);
  return withToken((token) => send(endpoint, input, { ...options, token }));
}

/** Like `call`, for requests that do not return JSON (the event stream). */
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
    // Only if this token was refused; the user may have signed in again meanwhile.
    if (isUnauthenticated(error) && readSession()?.idToken === token) signOut();
    throw error;
  }
}

function isUnauthenticated(error: unknown): boolean {
  return error instanceof ApiError && (error.status === 401 || error.code === "unauthenticated");
}

/** The server's message for an error; `fallback` if there was no reply. */
export function messageOf(error: unknown, fallback = "No answer from the server."): string {
  if (!(error instanceof ApiError) || error.status === 0) return fallback;
  return error.message || "The server gave no reason.";
}
