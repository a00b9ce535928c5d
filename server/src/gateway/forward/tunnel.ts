import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { admit } from "../access/admit.ts";
import type { OpenRoute } from "../access/resolve-route.ts";
import { openSocket } from "../http-client/open-socket.ts";
import { malformedRefusal } from "../refusals/refusals.ts";
import { refuseUpgrade } from "../refusals/refuse.ts";
import type { ForwardDeps } from "./forward.ts";
import { fromEnvironment, joinSockets, leave } from "./join-sockets.ts";
import { requestHead } from "./request-head.ts";

/** Small, as messages are: large read buffers of thousands of sockets would thrash the CPU caches. */
const readBytes = 16 * 1024;

/** Forwards a WebSocket upgrade to its environment and joins the two sockets after a 101. */
export function tunnel(
  deps: ForwardDeps,
  request: IncomingMessage,
  client: Duplex,
  early: Buffer,
  route: OpenRoute,
): void {
  const { route: environment } = route.target;
  const isGet = request.method === "GET";
  const head = isGet ? requestHead(deps, request, environment, { isUpgrade: true }) : undefined;
  if (!head || environment.endpoint === null) return void refuseUpgrade(deps, request, client, malformedRefusal);
  const exchange = admit(deps, request, route);
  if ("status" in exchange) return void refuseUpgrade(deps, request, client, exchange);
  deps.activity.onRequest(environment.id, request, route.principal);
  deps.counts.webSockets++;
  deps.counts.openWebSockets++;

  const upstream = openSocket(
    environment.endpoint,
    readBytes,
    () => upstream.write(head.text, "latin1"),
    (bytes) => fromEnvironment(sides, bytes),
  );
  const sides = joinSockets(client, upstream, early, {
    onBytes: deps.activity.countMessages(environment.id, request),
    onRefusal: (refusal) => deps.noteRefusal(request, refusal),
  });
  exchange.destroy = () => {
    upstream.destroy();
    client.destroy();
  };
  exchange.leave = () => leave(sides);
  client.on("close", () => {
    upstream.destroy();
    deps.exchanges.remove(exchange);
    deps.counts.openWebSockets--;
  });
}
