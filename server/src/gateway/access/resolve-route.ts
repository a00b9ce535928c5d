import type { IncomingMessage } from "node:http";
import { type Availability, isPort, readPortLabel } from "@berth/contract";
import type { GrantCookies } from "../principal/grant-cookies.ts";
import { isNavigation } from "../principal/is-navigation.ts";
import { type Principal, principalOf } from "../principal/principal.ts";
import { ownPrefix, sshPath } from "../principal/reserved-names.ts";
import { availabilityRefusal, guestRefusal } from "../refusals/availability-refusal.ts";
import {
  crossSiteRefusal,
  missingRefusal,
  portRangeRefusal,
  type Refusal,
  unauthenticatedRefusal,
  unreadRefusal,
  workerRefusal,
  wrongHostRefusal,
} from "../refusals/refusals.ts";
import { availabilityOf } from "../target/availability.ts";
import type { HostNames } from "../target/host-names.ts";
import type { Run } from "../target/run.ts";
import type { Target } from "../target/target-table.ts";
import type { Targets } from "../target/targets.ts";

export interface RouteDeps {
  readonly appUrl: string;
  readonly hosts: HostNames;
  readonly cookies: GrantCookies;
  readonly targets: Pick<Targets, "find" | "nowMs" | "isRead">;
}

export interface OpenRoute {
  readonly kind: "environment";
  readonly target: Target;
  readonly run: Run;
  readonly principal: Principal;
  /** To what listens there instead of JupyterLab (G385). */
  readonly port: number | undefined;
  /** To SSH, in a WebSocket (G406). */
  readonly isSsh: boolean;
}

/** Where a request is routed. */
export type ResolvedRoute =
  | OpenRoute
  /** A path that the gateway serves itself. */
  | { readonly kind: "own_path"; readonly target: Target; readonly port: number | undefined }
  | { readonly kind: "sign_in"; readonly target: Target; readonly port: number | undefined }
  /** Resolve again once this grant has been read from the database. */
  | { readonly kind: "unknown_grant"; readonly id: string }
  /** With an `outdatedId`, the cached state of that environment may be stale: refresh it and resolve again. */
  | { readonly kind: "refusal"; readonly refusal: Refusal; readonly outdatedId?: string };

/** Availabilities that can turn into "open". Only owner and guests get them, so only they can cause a refresh. */
const mayBeOutdated: ReadonlySet<Availability> = new Set(["starting", "paused", "stopped"]);

interface Kind {
  readonly isUpgrade: boolean;
}

/** A name that an environment has is that environment; only another one may be a port's (G385). */
export function resolveRoute(deps: RouteDeps, request: IncomingMessage, kind: Kind): ResolvedRoute {
  const { appUrl, hosts, targets } = deps;
  const label = hosts.labelOf(request.headers.host);
  if (label === undefined) return refused(wrongHostRefusal(appUrl));
  const target = targets.find(label);
  if (target) return routeTo(deps, request, kind, target, undefined);
  const named = readPortLabel(label);
  // The same for every name, so that names cannot be enumerated (G90).
  if (named && !isPort(named.port)) return refused(portRangeRefusal(appUrl));
  return routeTo(deps, request, kind, named && targets.find(named.subdomain), named?.port);
}

/** Resolves the principal first, then availability: only the owner and guests with a share link learn it (G90). */
function routeTo(
  deps: RouteDeps,
  request: IncomingMessage,
  { isUpgrade }: Kind,
  target: Target | undefined,
  port: number | undefined,
): ResolvedRoute {
  const { appUrl, hosts, targets, cookies } = deps;
  const path = (request.url as string).split("?", 1)[0] as string;
  const isSsh = isUpgrade && port === undefined && path === sshPath;
  const isOwnPath = path.startsWith(ownPrefix) && !isSsh;
  if (!target || (isOwnPath && isUpgrade))
    return refused(targets.isRead() ? missingRefusal(appUrl) : unreadRefusal(request.url as string));
  if (isOwnPath) return { kind: "own_path", target, port };

  const principal = principalOf(request, target.route, cookies, port);
  if (principal.kind === "unknown_grant") return principal;
  if (principal.kind === "nobody" && !isUpgrade && isNavigation(request)) return { kind: "sign_in", target, port };
  if (!mayCome(principal, isSsh)) return refused(unauthenticatedRefusal(appUrl, unauthenticatedTexts[principal.kind]));

  const availability = availabilityOf(target.route, targets.nowMs());
  if (availability !== "open" || !target.run) return unavailable(deps, request, target, principal, availability);
  const barred = whyBarred(request, principal, { isUpgrade, ownOrigin: hosts.originOf(request.headers.host) });
  return barred ? refused(barred) : { kind: "environment", target, run: target.run, principal, port, isSsh };
}

function mayCome(principal: Principal | Nobody, isSsh: boolean): principal is Principal {
  return isSsh ? principal.kind === "token" : principal.kind !== "wrong_token" && principal.kind !== "nobody";
}

interface Nobody {
  readonly kind: "wrong_token" | "nobody";
}

const unauthenticatedTexts = {
  wrong_token: "That is not this environment's token",
  nobody: "Sign in first",
  owner: "SSH takes this environment's token, not a browser's sign-in",
  shared: "SSH takes this environment's token, not a browser's sign-in",
} as const;

/** What an open environment is not given for its own users' sake. */
function whyBarred(
  request: IncomingMessage,
  principal: Principal,
  { isUpgrade, ownOrigin }: { readonly isUpgrade: boolean; readonly ownOrigin: string },
): Refusal | undefined {
  const isForeign = isUpgrade ? isForeignUpgrade : isCrossSite;
  if (isForeign(request, principal, ownOrigin)) return crossSiteRefusal;
  return coversSignIn(request) ? workerRefusal : undefined;
}

function refused(refusal: Refusal): ResolvedRoute {
  return { kind: "refusal", refusal };
}

function unavailable(
  deps: RouteDeps,
  request: IncomingMessage,
  { route, run }: Target,
  principal: Principal,
  availability: Availability,
): ResolvedRoute {
  const shown = availability === "open" ? "not_answering" : availability;
  const path = request.url as string;
  const about = { appUrl: deps.appUrl, path, nowMs: deps.targets.nowMs(), silentSinceMs: run?.silentSinceMs };
  const refusal = principal.kind === "shared" ? guestRefusal(shown, path) : availabilityRefusal(shown, route, about);
  return { kind: "refusal", refusal, ...(mayBeOutdated.has(shown) && { outdatedId: route.id }) };
}

/**
 * CSRF check: a page of another origin must not use the cookie. SameSite does not separate sibling subdomains, and
 * JupyterLab skips its own check because we add its token. Only a top-level navigation may come from another site.
 */
function isCrossSite(request: IncomingMessage, principal: Principal, ownOrigin: string): boolean {
  if (principal.kind === "token") return false;
  const { origin } = request.headers;
  const site = request.headers["sec-fetch-site"];
  if (origin !== undefined && origin !== ownOrigin) return true;
  if (site === undefined || site === "same-origin" || site === "none") return false;
  return !(
    (request.method === "GET" || request.method === "HEAD") &&
    request.headers["sec-fetch-mode"] === "navigate" &&
    request.headers["sec-fetch-dest"] === "document"
  );
}

/** Against cross-site WebSocket hijacking: the Origin must be the environment's own; only a token needs none. */
function isForeignUpgrade({ headers: { origin } }: IncomingMessage, principal: Principal, ownOrigin: string): boolean {
  return origin === undefined ? principal.kind !== "token" : origin !== ownOrigin;
}

/**
 * A script that a browser fetches as a service worker which could see the gateway's own paths: codes, the keys of share
 * links, and every later visit, the next owner's included (G301). A worker covers the folder of its script.
 */
function coversSignIn({ headers, url }: IncomingMessage): boolean {
  if (headers["service-worker"] === undefined) return false;
  const path = (url as string).split("?", 1)[0] as string;
  return ownPrefix.startsWith(path.slice(0, path.lastIndexOf("/") + 1));
}
