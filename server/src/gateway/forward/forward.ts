import type { IncomingMessage, ServerResponse } from "node:http";
import { type AdmitDeps, admit } from "../access/admit.ts";
import { countAnswer, type GatewayCounts } from "../access/gateway-counts.ts";
import type { OpenRoute } from "../access/resolve-route.ts";
import { abort, type PendingRequest, pauseResponse, resumeResponse } from "../http-client/pending-request.ts";
import type { UpstreamError } from "../http-client/upstream-error.ts";
import { availabilityRefusal } from "../refusals/availability-refusal.ts";
import type { RefuseDeps } from "../refusals/note-refusal.ts";
import { portRefusal } from "../refusals/port-refusal.ts";
import { malformedRefusal, type Refusal } from "../refusals/refusals.ts";
import { refuse } from "../refusals/refuse.ts";
import { portPool } from "../target/run.ts";
import type { Targets } from "../target/targets.ts";
import type { ActivityTracker } from "./activity-tracker.ts";
import { relayResponse } from "./relay-response.ts";
import { type HeadDeps, requestHead } from "./request-head.ts";
import { sendBody } from "./send-body.ts";

export interface ForwardDeps extends AdmitDeps, HeadDeps, RefuseDeps {
  readonly targets: Pick<Targets, "nowMs">;
  readonly activity: ActivityTracker;
  readonly counts: GatewayCounts;
}

const repeatable = new Set(["GET", "HEAD", "OPTIONS"]);

/** Streams one request to its environment and the response back, with back-pressure in both directions. */
export function forward(deps: ForwardDeps, request: IncomingMessage, response: ServerResponse, route: OpenRoute): void {
  const { target, run, principal, port } = route;
  const head = requestHead(deps, request, target.route, { isUpgrade: false, port });
  if (!head) return void refuse(deps, request, response, malformedRefusal);
  const exchange = admit(deps, request, route);
  if ("status" in exchange) return void refuse(deps, request, response, exchange);
  deps.activity.onRequest(target.route.id, request, principal);
  const onBytes = deps.activity.countExchange(target.route.id);

  const hasBody = head.body !== "none";
  const isRepeatable = !hasBody && repeatable.has(request.method as string);
  const pool = port === undefined ? run.pool : portPool(run, port);
  const pending: PendingRequest = pool.send(
    { head: head.text, isHead: request.method === "HEAD", hasBody, isRepeatable },
    {
      ...relayResponse(response, run, onBytes, {
        pause: () => pauseResponse(pending),
        resume: () => resumeResponse(pending),
      }),
      onError(error) {
        if (response.headersSent) response.destroy();
        else refuse(deps, request, response, silenceOf(deps, request, route, error));
      },
      onDrain: () => void request.resume(),
    },
  );
  exchange.destroy = endBoth(pending, request);
  response.on("close", () => {
    abort(pending);
    deps.exchanges.remove(exchange);
    countAnswer(deps.counts, response);
  });
  if (hasBody) sendBody(request, pending, head.body === "chunked", onBytes);
}

/** A separate function: a closure inside `forward` would keep every request in memory until a full garbage collection. */
function endBoth(pending: PendingRequest, request: IncomingMessage): () => void {
  return () => {
    abort(pending);
    request.socket.destroy();
  };
}

/** The refusal for an environment, or a port of it, that gave no answer. */
function silenceOf(
  { appUrl, targets }: ForwardDeps,
  request: IncomingMessage,
  { target: { route }, run, port }: OpenRoute,
  error: UpstreamError,
): Refusal {
  const path = request.url as string;
  if (port !== undefined) return portRefusal(error, { port, path, appUrl, environmentId: route.id });
  const nowMs = targets.nowMs();
  run.silentSinceMs ??= nowMs;
  return availabilityRefusal("not_answering", route, { appUrl, path, nowMs, silentSinceMs: run.silentSinceMs });
}
