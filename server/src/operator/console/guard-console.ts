import type { FastifyInstance, FastifyRequest } from "fastify";
import { AppError } from "../../app-error.ts";
import { type Author, requireReason } from "../../audit/record-act.ts";
import { addressKey, limiter } from "../../http/limit-requests.ts";
import { cookieOf } from "../../http/request-user.ts";
import { type KnownBrowser, type KnownBrowsers, knownDays } from "./known-browsers.ts";
import type { Operator, OperatorSessions } from "./operator-sessions.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set in onRequest for endpoints of the console. */
    operator?: Operator | undefined;
    browser?: KnownBrowser | undefined;
  }
}

const requestsPerMinute = 600;

/**
 * The console's own checks: only its own host name, against DNS rebinding; only its own origin for whatever may change
 * something, against CSRF; a sign-in for every endpoint of an operator. `url` is the console's address. Requests are counted
 * after the host's name, and those of a known browser by themselves: others on its network cannot use up its limit.
 */
export function guardConsole(
  app: FastifyInstance,
  {
    url,
    sessions,
    browsers,
  }: { readonly url: string; readonly sessions: OperatorSessions; readonly browsers: KnownBrowsers },
): void {
  const countBrowser = limiter(app, requestsPerMinute, "This browser's", ({ browser }) => `browser ${browser?.id}`);
  const countNetwork = limiter(app, requestsPerMinute, "This network's", ({ ip }) => addressKey(ip));
  app.addHook("onRequest", async (request) => {
    const { host, origin: ownOrigin } = new URL(url);
    if (request.host !== host) throw new AppError("wrong_host", `The console answers at ${ownOrigin} only`);
    request.browser = await browsers.read(cookieOf(request, browserCookie(url)) ?? "");
    await (request.browser ? countBrowser : countNetwork)(request);
    const { method, headers } = request;
    if (method !== "GET" && method !== "HEAD" && headers.origin !== ownOrigin)
      throw new AppError("forbidden", "Not from another site");
    if (request.routeOptions.config.auth !== "operator") return;
    request.operator = await sessions.read(cookieOf(request, sessionCookie(url)) ?? "");
    if (!request.operator) throw new AppError("unauthenticated", "Sign in first");
  });
  app.addHook("onSend", async (request, reply) => {
    if (request.routeOptions.config.endpoint) reply.header("cache-control", "no-store");
  });
}

export function operatorOf({ operator }: FastifyRequest): Operator {
  if (!operator) throw new AppError("unauthenticated", "Sign in first");
  return operator;
}

/** The operator of a request as the author of an act. Throws without a reason (G145). */
export function authorOf(request: FastifyRequest, given: string): Author {
  const { email } = operatorOf(request);
  return { actor: `operator:${email}`, reason: requireReason({ actor: email, reason: given }) };
}

/** Name of the session's cookie; with TLS the browser itself binds it to this host. */
export function sessionCookie(url: string): string {
  return `${url.startsWith("https:") ? "__Host-" : ""}operator-session`;
}

/** Name of the cookie of a known browser. */
export function browserCookie(url: string): string {
  return `${url.startsWith("https:") ? "__Host-" : ""}operator-browser`;
}

/** A Set-Cookie header's value: for this browser session only but for a known browser; an empty value deletes the cookie. */
export function setCookie(url: string, name: string, value: string): string {
  const secure = url.startsWith("https:") ? "; Secure" : "";
  const lasting = name === browserCookie(url) ? `; Max-Age=${knownDays * 86_400}` : "";
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}${value === "" ? "; Max-Age=0" : lasting}`;
}
