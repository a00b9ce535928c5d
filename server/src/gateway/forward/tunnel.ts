import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { admit } from "../access/admit.ts";
import type { OpenRoute } from "../access/resolve-route.ts";
import { portRefusal } from "../refusals/port-refusal.ts";
import { malformedRefusal } from "../refusals/refusals.ts";
import { refuseUpgrade } from "../refusals/refuse.ts";
import { dialOf } from "../target/run.ts";
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
  const { run, port } = route;
  const isGet = request.method === "GET";
  const head = isGet ? requestHead(deps, request, environment, { isUpgrade: true, port }) : undefined;
  if (!head) return void refuseUpgrade(deps, request, client, malformedRefusal);
  const exchange = admit(deps, request, route);
  if ("status" in exchange) return void refuseUpgrade(deps, request, client, exchange);
  deps.activity.onRequest(environment.id, request, route.principal);
  deps.counts.webSockets++;
  deps.counts.openWebSockets++;

  const about = { path: request.url as string, appUrl: deps.appUrl, environmentId: environment.id };
  const upstream = dialOf(run, port)(
    readBytes,
    () => upstream.write(head.text, "latin1"),
    (bytes) => fromEnvironment(sides, bytes),
  );
  const sides = joinSockets(client, upstream, early, {
    onBytes: deps.activity.countMessages(environment.id, request),
    onRefusal: (refusal) => deps.noteRefusal(request, refusal),
    ...(port !== undefined && { silence: (error) => portRefusal(error, { ...about, port }) }),
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
