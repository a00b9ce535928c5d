import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type ResolvedRoute, type RouteDeps, resolveRoute } from "./access/resolve-route.ts";
import { type ForwardDeps, forward } from "./forward/forward.ts";
import { tunnel } from "./forward/tunnel.ts";
import { withoutToken } from "./principal/address-token.ts";
import { malformedRefusal } from "./refusals/refusals.ts";
import { refuse, refuseUpgrade } from "./refusals/refuse.ts";
import { serveOwnPath } from "./sign-in/serve-own-path.ts";
import { type SignInDeps, startSignIn } from "./sign-in/sign-in.ts";
import type { SshDoor } from "./ssh/ssh-door.ts";
import type { Targets } from "./target/targets.ts";

/** Dependencies of every request, wired once. */
export interface ServeDeps extends RouteDeps, ForwardDeps, SignInDeps {
  readonly hosts: RouteDeps["hosts"];
  readonly targets: Targets;
  readonly ssh: Pick<SshDoor, "onUpgrade">;
}

/** One request to an environment's host. */
export function serveRequest(deps: ServeDeps, request: IncomingMessage, response: ServerResponse): void {
  const route = resolveRoute(deps, request, { isUpgrade: false });
  if (route.kind !== "refusal" || route.outdatedId === undefined) return void follow(deps, request, response, route);
  // Another process may have announced "open" already while its notification has not arrived here.
  deps.targets.refresh(route.outdatedId).then(
    () => response.destroyed || follow(deps, request, response, resolveRoute(deps, request, { isUpgrade: false })),
    (err: unknown) => {
      deps.log.error({ event: "gateway.request_failed", environmentId: route.outdatedId, err });
      refuse(deps, request, response, route.refusal);
    },
  );
}

function follow(deps: ServeDeps, request: IncomingMessage, response: ServerResponse, route: ResolvedRoute): void {
  switch (route.kind) {
    case "environment":
      return void forward(deps, request, response, route);
    case "own_path":
      deps.counts.own++;
      return void serveOwnPath(deps, request, response, route.target.route, route.port);
    case "sign_in":
      deps.counts.own++;
      return void startSignIn(deps, request, response, { ...route, path: pathOf(request, route) });
    case "unknown_grant":
      return void readGrant(deps, route.id).then(() => response.destroyed || serveRequest(deps, request, response));
    case "refusal":
      deps.counts.refused++;
      return void refuse(deps, request, response, route.refusal);
  }
}

function pathOf({ url = "" }: IncomingMessage, { target, port }: Extract<ResolvedRoute, { kind: "sign_in" }>): string {
  return port === undefined ? withoutToken(url) : withoutToken(url, target.route.secret);
}

/** One WebSocket to an environment's host. */
export function serveUpgrade(deps: ServeDeps, request: IncomingMessage, socket: Duplex, early: Buffer): void {
  // Without a listener, a reset before the tunnel is set up would be an unhandled error.
  socket.on("error", () => socket.destroy());
  followUpgrade(deps, request, socket, early);
}

function followUpgrade(deps: ServeDeps, request: IncomingMessage, socket: Duplex, early: Buffer): void {
  if (socket.destroyed) return;
  const route = resolveRoute(deps, request, { isUpgrade: true });
  if (route.kind === "environment" && route.isSsh) deps.ssh.onUpgrade(request, socket, early, route);
  else if (route.kind === "environment") tunnel(deps, request, socket, early, route);
  else if (route.kind === "unknown_grant")
    void readGrant(deps, route.id).then(() => followUpgrade(deps, request, socket, early));
  else refuseUpgrade(deps, request, socket, route.kind === "refusal" ? route.refusal : malformedRefusal);
}

async function readGrant({ targets, cookies }: ServeDeps, id: string): Promise<void> {
  await targets.readGrant(id);
  cookies.noteRead(id);
}
