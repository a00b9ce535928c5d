import { hash as digest, randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { cookieHeader } from "../principal/cookie-header.ts";
import { isNavigation } from "../principal/is-navigation.ts";
import { visitCookieName } from "../principal/reserved-names.ts";

/** From the start of a sign-in to its code, which can include a sign-in to the app. */
const visitSeconds = 3600;

/**
 * One browser's sign-in through the app. The browser keeps a random value in a cookie, and the code is bound to its hash.
 * This prevents login CSRF: a link with an attacker's code signs in no other browser.
 */
export interface Visit {
  /** SHA-256, base64url; the app sends it when it requests the code. */
  readonly hash: string;
  /** Set-Cookie value: host-only, HttpOnly. */
  readonly cookie: string;
}

/** All tabs of a browser share one value. */
export function beginVisit(request: IncomingMessage, secure: boolean): Visit {
  const value = valuesOf(request, secure)[0] ?? randomBytes(32).toString("base64url");
  const name = visitCookieName(secure);
  return {
    hash: hashOf(value).toString("base64url"),
    cookie: `${name}=${value}; Path=/; Max-Age=${visitSeconds}; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`,
  };
}

/** Whether a code with this hash is bound to the requesting browser. Only programs may use a code without a hash. */
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

const hashOf = (value: string) => digest("sha256", value, "buffer");
