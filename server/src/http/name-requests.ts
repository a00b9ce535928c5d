import type { FastifyInstance } from "fastify";
import { requestIds } from "../logging/request-ids.ts";

/** Returns each request's id as `x-request-id`, and puts it into every line of the log that is written meanwhile (docs/operate/logs.md). */
export function nameRequests(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    // Also for replies that are streamed past Fastify.
    reply.raw.setHeader("x-request-id", request.id);
    requestIds.run(request.id, done);
  });
  // Reading a body ends the context of the hooks before it.
  app.addHook("preValidation", (request, _, done) => requestIds.run(request.id, done));
}
