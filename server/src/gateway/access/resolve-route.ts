import type { IncomingMessage } from "node:http";
import type { Db } from "../../database/database.ts";
import { addressKey } from "../../http/limit-requests.ts";
import type { Uses } from "../forward/activity-tracker.ts";
import type { Upstream } from "../http-client/connection-pool.ts";
import type { Cookies } from "../principal/grant-cookies.ts";
import { type Grants, holds } from "../principal/grants.ts";
import { isNavigation, type Visitor, visitorOf } from "../principal/principal.ts";
import { guestRefusal, missingRefusal, plainRefusal, type Refusal, standingRefusal } from "../refusals/refusals.ts";
import { keepsSockets, type Standing, standingOf } from "../target/availability.ts";
import type { Hosts } from "../target/host-names.ts";
import type { Target } from "../target/target-table.ts";
import type { Targets } from "../target/targets.ts";
import type { OpenOne, OpenSockets } from "./open-exchanges.ts";

/** What every request needs, wired once. */
export interface Core {
  readonly db: Db;
  readonly appUrl: string;
  readonly hosts: Hosts;
  readonly grants: Grants;
  readonly cookies: Cookies;
  readonly targets: Targets;
  readonly open: OpenSockets;
  readonly uses: Uses;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly failed: (error: unknown) => void;
}

/** A request's way to an environment, or what it meets instead. */
export type Way =
  | { readonly to: "environment"; readonly target: Target; readonly upstream: Upstream; readonly visitor: Visitor }
  | { readonly to: "sign_in" }
  /** Shows a grant that has not been told of here. */
  | { readonly to: "unread_grant"; readonly id: string }
  | { readonly to: "refusal"; readonly refusal: Refusal };

/** First who asks, then how the environment stands: only its owner, and who has a link of theirs, learns that (G90). */
export function wayOf(
  core: Core,
  request: IncomingMessage,
  target: Target | undefined,
  { navigation = isNavigation(request) }: { readonly navigation?: boolean } = {},
): Way {
  if (!target) return { to: "refusal", refusal: missingRefusal(core.appUrl) };
  const visitor = visitorOf(request, target.route, core.cookies);
  if (visitor.kind === "nobody" || visitor.kind === "wrong_token") {
    const id = core.cookies.unread(request.headers.cookie, target.route);
    if (id !== undefined) return { to: "unread_grant", id };
  }
  if (visitor.kind === "wrong_token")
    return { to: "refusal", refusal: unauthenticated(core, "That is not this environment's token") };
  if (visitor.kind === "nobody")
    return navigation ? { to: "sign_in" } : { to: "refusal", refusal: unauthenticated(core, "Sign in first") };
  const standing = standingOf(target.route, core.targets.nowMs());
  if (standing === "open" && target.upstream) return { to: "environment", target, upstream: target.upstream, visitor };
  const met = standing === "open" ? "not_answering" : standing;
  const path = request.url as string;
  const refusal = visitor.kind === "shared" ? guestRefusal(met, path) : closed(core, met, target, request);
  return { to: "refusal", refusal };
}

export function closed(
  core: Core,
  standing: Exclude<Standing, "open">,
  target: Target,
  request: IncomingMessage,
): Refusal {
  return standingRefusal(standing, target.route, {
    appUrl: core.appUrl,
    path: request.url as string,
    nowMs: core.targets.nowMs(),
    silentSinceMs: target.upstream?.silentSinceMs,
  });
}

/** One more request or WebSocket; the caller removes it when it is over. A refusal where there are too many already. */
export function admit(
  core: Core,
  request: IncomingMessage,
  way: Extract<Way, { to: "environment" }>,
): OpenOne | Refusal {
  const { route } = way.target;
  const address = addressKey(core.addressOf(request));
  const full = core.open.full(route.id, address);
  if (full === "environment") return { ...busy(core, 503), retryAfterSeconds: 5 };
  if (full === "address") return { ...busy(core, 429), retryAfterSeconds: 5 };
  const one: OpenOne = {
    subdomain: route.subdomain,
    environmentId: route.id,
    address,
    upstream: way.upstream,
    grant: "grant" in way.visitor ? way.visitor.grant.id : undefined,
    secret: way.visitor.kind === "token" ? route.secret : undefined,
    exchange: undefined,
    at: -1,
  };
  core.open.add(one);
  return one;
}

/** Whether what was opened earlier may go on: the same run of the same environment, and by a right that still holds. */
export function mayStay(core: Core, one: OpenOne): boolean {
  const target = core.targets.find(one.subdomain);
  if (target?.route.id !== one.environmentId || target.upstream !== one.upstream) return false;
  if (!keepsSockets(target.route, core.targets.nowMs())) return false;
  if (one.grant === undefined) return one.secret === target.route.secret;
  const grant = core.grants.get(one.grant);
  return grant !== undefined && holds(grant, core.targets.nowMs());
}

function unauthenticated(core: Core, title: string): Refusal {
  return plainRefusal(401, "unauthenticated", title, "The way in leads through the app.", core.appUrl);
}

function busy(core: Core, status: number): Refusal {
  return plainRefusal(
    status,
    status === 429 ? "rate_limited" : "unavailable",
    "Too many connections are open at once",
    "Close some of them, or wait a moment.",
    core.appUrl,
  );
}
