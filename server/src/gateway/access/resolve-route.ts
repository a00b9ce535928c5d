import type { IncomingMessage } from "node:http";
import type { Db } from "../../database/database.ts";
import { addressKey } from "../../http/limit-requests.ts";
import type { ActivityTracker } from "../forward/activity-tracker.ts";
import type { ConnectionPool } from "../http-client/connection-pool.ts";
import type { GrantCookies } from "../principal/grant-cookies.ts";
import { type Grants, isUnexpired } from "../principal/grants.ts";
import { isNavigation, type Principal, principalOf } from "../principal/principal.ts";
import { availabilityRefusal, guestRefusal, missingRefusal, plainRefusal, type Refusal } from "../refusals/refusals.ts";
import { type Availability, availabilityOf, keepsConnections } from "../target/availability.ts";
import type { HostNames } from "../target/host-names.ts";
import type { Target } from "../target/target-table.ts";
import type { Targets } from "../target/targets.ts";
import type { OpenExchange, OpenExchanges } from "./open-exchanges.ts";

/** What every request needs, wired once. */
export interface Core {
  readonly db: Db;
  readonly appUrl: string;
  readonly hosts: HostNames;
  readonly grants: Grants;
  readonly cookies: GrantCookies;
  readonly targets: Targets;
  readonly open: OpenExchanges;
  readonly uses: ActivityTracker;
  readonly addressOf: (request: IncomingMessage) => string;
  readonly failed: (error: unknown) => void;
}

/** A request's way to an environment, or what it meets instead. */
export type Way =
  | {
      readonly to: "environment";
      readonly target: Target;
      readonly upstream: ConnectionPool;
      readonly visitor: Principal;
    }
  | { readonly to: "sign_in" }
  /** Shows a grant that has not been told of here. */
  | { readonly to: "unread_grant"; readonly id: string }
  | { readonly to: "refusal"; readonly refusal: Refusal };

/** First who asks, then how the environment stands: only its owner, and who has a link of theirs, learns that (G90). */
export function resolveRoute(
  core: Core,
  request: IncomingMessage,
  target: Target | undefined,
  { navigation = isNavigation(request) }: { readonly navigation?: boolean } = {},
): Way {
  if (!target) return { to: "refusal", refusal: missingRefusal(core.appUrl) };
  const visitor = principalOf(request, target.route, core.cookies);
  if (visitor.kind === "nobody" || visitor.kind === "wrong_token") {
    const id = core.cookies.unread(request.headers.cookie, target.route);
    if (id !== undefined) return { to: "unread_grant", id };
  }
  if (visitor.kind === "wrong_token")
    return { to: "refusal", refusal: unauthenticated(core, "That is not this environment's token") };
  if (visitor.kind === "nobody")
    return navigation ? { to: "sign_in" } : { to: "refusal", refusal: unauthenticated(core, "Sign in first") };
  const standing = availabilityOf(target.route, core.targets.nowMs());
  if (standing === "open" && target.upstream) return { to: "environment", target, upstream: target.upstream, visitor };
  const met = standing === "open" ? "not_answering" : standing;
  const path = request.url as string;
  const refusal = visitor.kind === "shared" ? guestRefusal(met, path) : closed(core, met, target, request);
  return { to: "refusal", refusal };
}

export function closed(
  core: Core,
  standing: Exclude<Availability, "open">,
  target: Target,
  request: IncomingMessage,
): Refusal {
  return availabilityRefusal(standing, target.route, {
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
): OpenExchange | Refusal {
  const { route } = way.target;
  const address = addressKey(core.addressOf(request));
  const full = core.open.full(route.id, address);
  if (full === "environment") return { ...busy(core, 503), retryAfterSeconds: 5 };
  if (full === "address") return { ...busy(core, 429), retryAfterSeconds: 5 };
  const one: OpenExchange = {
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
export function mayStay(core: Core, one: OpenExchange): boolean {
  const target = core.targets.find(one.subdomain);
  if (target?.route.id !== one.environmentId || target.upstream !== one.upstream) return false;
  if (!keepsConnections(target.route, core.targets.nowMs())) return false;
  if (one.grant === undefined) return one.secret === target.route.secret;
  const grant = core.grants.get(one.grant);
  return grant !== undefined && isUnexpired(grant, core.targets.nowMs());
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
