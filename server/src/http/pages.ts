import { existsSync } from "node:fs";
import { join } from "node:path";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { wire } from "./error-handler.ts";
import { notFound } from "./mount.ts";

/**
 * The built browser app. A document navigation without a bearer always gets the app, though the same path with one is
 * the API (G93): the prerendered page where there is one, else the empty shell, which React may hydrate under any path.
 */
export async function servePages(app: FastifyInstance, dist: string): Promise<void> {
  const built = existsSync(join(dist, "shell.html"));
  if (built) {
    await app.register(fastifyStatic, {
      root: dist,
      index: false,
      wildcard: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders: (reply, path) =>
        reply.setHeader(
          "cache-control",
          path.includes("/assets/") ? "public, max-age=31536000, immutable" : "no-cache",
        ),
    });
    app.get("/", (_, reply) => reply.sendFile("index.html"));
    app.addHook("onRequest", async (request, reply) => {
      const { config } = request.routeOptions;
      if ((config.auth === "bearer" || request.is404) && isNavigation(request)) return reply.sendFile("shell.html");
    });
  }
  app.setNotFoundHandler({ preHandler: app.rateLimit() }, (_, reply) => reply.code(404).send(wire(notFound())));
}

function isNavigation({ method, headers }: FastifyRequest): boolean {
  return (
    (method === "GET" || method === "HEAD") &&
    headers.authorization === undefined &&
    (headers.accept ?? "").includes("text/html")
  );
}
