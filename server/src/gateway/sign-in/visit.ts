import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { cookieHeader } from "../principal/cookie-header.ts";
import { isNavigation } from "../principal/principal.ts";
import { visitCookieName } from "../principal/reserved-names.ts";

/** From setting out to coming back with a code; signing in to the app may lie between. */
const visitSeconds = 3600;

/**
 * A browser that sets out through the app for a code. It keeps a random value, and the code is bound to that value's hash:
 * else a link with somebody's code for their own environment would sign in any browser that follows it.
 */
export interface Visit {
  /** SHA-256, base64url: what the app asks its code with. */
  readonly hash: string;
  /** Set-Cookie: host-only, not readable by script. */
  readonly cookie: string;
}

/** Several tabs of one browser set out with one value. */
export function beginVisit(request: IncomingMessage, secure: boolean): Visit {
  const value = valuesOf(request, secure)[0] ?? randomBytes(32).toString("base64url");
  const name = visitCookieName(secure);
  return {
    hash: hashOf(value).toString("base64url"),
    cookie: `${name}=${value}; Path=/; Max-Age=${visitSeconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`,
  };
}

/** Whether a code with this hash may sign in whoever sends the request. A program may use one that is bound to no browser. */
export function mayUse(request: IncomingMessage, secure: boolean, hash: Buffer | null): boolean {
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
