import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { admit, type Core, closed, resolveRoute } from "./access/resolve-route.ts";
import { forward } from "./forward/forward.ts";
import { requestHead } from "./forward/request-head.ts";
import { tunnel } from "./forward/tunnel.ts";
import { withoutToken } from "./principal/address-token.ts";
import { isCrossSite } from "./principal/principal.ts";
import { ownPrefix, sharePath } from "./principal/reserved-names.ts";
import {
  endedShareRefusal,
  missingRefusal,
  plainRefusal,
  type Refusal,
  unavailableRefusal,
  wrongHostRefusal,
} from "./refusals/refusals.ts";
import { refuse, refuseUpgrade } from "./refusals/refuse.ts";
import { openShare } from "./sign-in/open-share.ts";
import { signIn, signInPath, startSignIn } from "./sign-in/sign-in.ts";
import { availabilityOf } from "./target/availability.ts";
import type { Target } from "./target/target-table.ts";

const crossSite = plainRefusal(
  403,
  "cross_site",
  "Another site asked for this",
  "Open the environment in a tab of its own.",
  "/lab",
);
const malformed = plainRefusal(
  400,
  "invalid_request",
  "The request is malformed",
  "It can be read in two ways, so it was not passed on.",
  "/lab",
);

/** One request to an environment's host. */
export function serveRequest(core: Core, request: IncomingMessage, response: ServerResponse): void {
  const refusal = pass(core, request, response);
  if (!refusal) return;
  if (mayBeOld.has(refusal.code)) void lookAgain(core, request, response, refusal);
  else refuse(request, response, refusal);
}

/** What an environment is on its way out of. Only its owner hears these, so nobody else makes us read. */
const mayBeOld = new Set(["starting", "paused", "stopped"]);

/** Whoever has just been told that it runs must not be refused because that has not been told here yet. */
async function lookAgain(
  core: Core,
  request: IncomingMessage,
  response: ServerResponse,
  before: Refusal,
): Promise<void> {
  const target = core.targets.find(core.hosts.labelOf(request.headers.host) ?? "");
  try {
    if (target) await core.targets.look(target.route.id);
  } catch (error) {
    core.failed(error);
    return refuse(request, response, before);
  }
  if (response.destroyed) return;
  const refusal = pass(core, request, response);
  if (refusal) refuse(request, response, refusal);
}

/** Whoever signed in at another gateway a moment ago must not be sent away because that has not been told here yet. */
async function lookForGrant(core: Core, id: string): Promise<void> {
  await core.targets.lookForGrant(id);
  core.cookies.noteRead(id);
}

/** One WebSocket to an environment's host. */
export function serveUpgrade(core: Core, request: IncomingMessage, socket: Duplex, early: Buffer): void {
  // Until the tunnel listens, a reset must not be an unhandled error.
  socket.on("error", () => socket.destroy());
  connectOrRefuse(core, request, socket, early);
}

function connectOrRefuse(core: Core, request: IncomingMessage, socket: Duplex, early: Buffer): void {
  if (socket.destroyed) return;
  const refusal = passUpgrade(core, request, socket, early);
  if (refusal) refuseUpgrade(socket, refusal);
}

function pass(core: Core, request: IncomingMessage, response: ServerResponse): Refusal | undefined {
  const label = core.hosts.labelOf(request.headers.host);
  if (label === undefined) return wrongHostRefusal(core.appUrl);
  const target = core.targets.find(label);
  const url = request.url as string;
  if (target && url.startsWith(ownPrefix)) return serveOwn(core, request, response, target);
  const way = resolveRoute(core, request, target);
  if (way.to === "refusal") return way.refusal;
  if (way.to === "unread_grant") {
    void lookForGrant(core, way.id).then(() => response.destroyed || serveRequest(core, request, response));
    return undefined;
  }
  if (way.to === "sign_in") {
    startSignIn(request, response, { subdomain: label }, core, withoutToken(url));
    return undefined;
  }
  if ("grant" in way.visitor && isCrossSite(request, core.hosts.originOf(request.headers.host))) return crossSite;
  const head = requestHead(request, saidOf(core, request, way.target), { upgrade: false });
  if (!head) return malformed;
  const one = admit(core, request, way);
  if (!("exchange" in one)) return one;
  core.uses.request(one.environmentId, request, way.visitor);
  one.exchange = forward(request, response, way.upstream, head, {
    moved: core.uses.exchange(one.environmentId),
    answered() {
      way.upstream.silentSinceMs = undefined;
    },
    unanswered() {
      way.upstream.silentSinceMs ??= core.targets.nowMs();
      refuse(request, response, closed(core, "not_answering", way.target, request));
    },
    closed: () => core.open.remove(one),
  });
  return undefined;
}

const ownPaths: Readonly<Record<string, typeof signIn>> = {
  [`GET ${signInPath}`]: signIn,
  [`GET ${sharePath}`]: openShare,
  [`POST ${sharePath}`]: openShare,
};

/** The gateway's own paths: nothing below the prefix ever reaches an environment. */
function serveOwn(core: Core, request: IncomingMessage, response: ServerResponse, target: Target): Refusal | undefined {
  const own = ownPaths[`${request.method} ${(request.url as string).split("?", 1)[0]}`];
  if (!own) return missingRefusal(core.appUrl);
  // A form's Origin is its page's; a link's end is told to everybody alike.
  if (request.method === "POST" && request.headers.origin !== core.hosts.originOf(request.headers.host))
    return crossSite;
  if (own === openShare && availabilityOf(target.route, core.targets.nowMs()) === "ended")
    return endedShareRefusal(core.appUrl);
  own(request, response, target.route, core).catch((error: unknown) => {
    core.failed(error);
    if (response.headersSent) response.destroy();
    else refuse(request, response, unavailableRefusal(request.url as string));
  });
  return undefined;
}

/** The Origin must be the environment's own, exactly; only a script with the token may leave it out. */
function passUpgrade(core: Core, request: IncomingMessage, socket: Duplex, early: Buffer): Refusal | undefined {
  const label = core.hosts.labelOf(request.headers.host);
  if (label === undefined) return wrongHostRefusal(core.appUrl);
  const own = (request.url as string).startsWith(ownPrefix);
  const way = resolveRoute(core, request, own ? undefined : core.targets.find(label), { navigation: false });
  if (way.to === "unread_grant") {
    void lookForGrant(core, way.id).then(() => connectOrRefuse(core, request, socket, early));
    return undefined;
  }
  if (way.to !== "environment") return way.to === "refusal" ? way.refusal : malformed;
  const { origin } = request.headers;
  if (origin === undefined ? way.visitor.kind !== "token" : origin !== core.hosts.originOf(request.headers.host))
    return crossSite;
  const { endpoint } = way.target.route;
  const head =
    request.method === "GET" ? requestHead(request, saidOf(core, request, way.target), { upgrade: true }) : undefined;
  if (!head || endpoint === null) return malformed;
  const one = admit(core, request, way);
  if (!("exchange" in one)) return one;
  core.uses.request(one.environmentId, request, way.visitor);
  one.exchange = tunnel(socket, early, endpoint, head.text, {
    moved: core.uses.socket(one.environmentId, request),
    closed: () => core.open.remove(one),
  });
  return undefined;
}

function saidOf(core: Core, request: IncomingMessage, { route }: Target) {
  return { authorization: `token ${route.runToken}`, address: core.addressOf(request), secure: core.hosts.secure };
}
