import type { FastifyInstance } from "fastify";
import type { Metrics } from "./create-metrics.ts";

type RequestMetrics = Pick<Metrics, "requests" | "requestSeconds" | "openRequests">;

/** Counts the requests of an app by the template of their route, never by their path. */
export function countRequests(app: FastifyInstance, metrics: RequestMetrics): void {
  app.addHook("onRequest", (request, reply, done) => {
    const { method } = request;
    const route = request.routeOptions.url ?? "none";
    metrics.openRequests.inc({ route });
    // The end of a stream, or of a client that went away, runs no hook.
    reply.raw.once("close", () => {
      metrics.openRequests.dec({ route });
      const { headersSent, statusCode } = reply.raw;
      metrics.requests.inc({ method, route, status: headersSent ? `${Math.floor(statusCode / 100)}xx` : "aborted" });
    });
    done();
  });
  app.addHook("onResponse", (request, reply, done) => {
    metrics.requestSeconds.observe({ route: request.routeOptions.url ?? "none" }, reply.elapsedTime / 1000);
    done();
  });
}
