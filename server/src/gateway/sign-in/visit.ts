import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { cookieHeader } from "../principal/cookie-header.ts";
import { isNavigation } from "../principal/is-navigation.ts";
import { visitCookieName } from "../principal/reserved-names.ts";

/** From the start of a sign-in to its code; signing in to the app may lie between. */
const visitSeconds = 3600;

/**
 * One browser's sign-in through the app. The browser keeps a random value, and the code is bound to that value's hash:
 * else a link with somebody's code for their own environment would sign in any browser that follows it.
 */
export interface Visit {
  /** SHA-256, base64url: what the app asks for its code with. */
  readonly hash: string;
  /** Set-Cookie: host-only, not readable by script. */
  readonly cookie: string;
}

/** Several tabs of one browser share one value. */
export function beginVisit(request: IncomingMessage, secure: boolean): Visit {
  const value = valuesOf(request, secure)[0] ?? randomBytes(32).toString("base64url");
  const name = visitCookieName(secure);
  return {
    hash: hashOf(value).toString("base64url"),
    cookie: `${name}=${value}; Path=/; Max-Age=${visitSeconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`,
  };
}

/** Whether a code with this hash was made for the browser that sends the request. A program may use one without a hash. */
export function isFor(request: IncomingMessage, secure: boolean, hash: Buffer | null): boolean {
  if (hash !== null) return valuesOf(request, secure).some((value) => hashOf(value).equals(hash));
  const { origin, "sec-fetch-site": site } = request.headers;
  return origin === undefined && site === undefined && !isNavigation(request);
}

function valuesOf(request: IncomingMessage, secure: boolean): readonly string[] {
  const prefix = `${visitCookieName(secure)}=`;
  return cookieHeader(request.headers.cookie)
    .ours.filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length))
    .filter((value) => /^[\w-]{43}$/.test(value));
}

function hashOf(value: string): Buffer {
  return createHash("sha256").update(value).digest();
}
