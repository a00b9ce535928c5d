import { join } from "node:path";
import { isAppPath, productStatus } from "@berth/contract";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from "fastify";
import { crawlerRoutes } from "./crawler-routes.ts";
import { type Documents, pathOf as pagePathOf, sendDocument } from "./documents.ts";
import { wire } from "./handle-errors.ts";
import { notFound } from "./mount.ts";

/**
 * Serves the built browser app. A navigation without a bearer token always gets the app, even where the same path with a
 * token is an API call (G93): the prerendered page, else the shell, which React can hydrate under any path. For an unknown
 * path the shell is a 404 (G117).
 */
export async function servePages(
  app: FastifyInstance,
  built: { readonly dist: string; readonly documents: Documents; readonly appUrl: string },
): Promise<void> {
  if (built.documents.size > 0) await serveBuilt(app, built);
  app.setNotFoundHandler({ preHandler: app.rateLimit() }, (request, reply) => {
    const shell = isNavigation(request) ? built.documents.get("shell") : undefined;
    return shell ? sendDocument(request, reply.code(404), shell) : reply.code(404).send(wire(notFound()));
  });
}

/** Public pages whose path is also a public API call. */
const calls: ReadonlySet<string> = new Set([productStatus.path]);

async function serveBuilt(
  app: FastifyInstance,
  { dist, documents, appUrl }: Parameters<typeof servePages>[1],
): Promise<void> {
  await app.register(filesOf(dist));
  /** As it is now: pages are drawn again while they are served. */
  const pageOf = (name: string) => {
    const page = documents.get(name);
    if (!page) throw new Error(`${dist} has no ${name}.html`);
    return page;
  };
  pageOf("shell");
  const names = [...documents.keys()].filter((name) => name !== "shell");
  for (const name of names) {
    const path = pagePathOf(name);
    if (!calls.has(path)) app.get(path, free, (request, reply) => sendDocument(request, reply, pageOf(name)));
    if (path.startsWith("/docs")) app.get(`${path}/`, free, (_, reply) => reply.redirect(path, 308));
  }
  crawlerRoutes(app, appUrl, names.map(pagePathOf));
  app.addHook("onRequest", async (request, reply) => {
    const { config, url = "" } = request.routeOptions;
    const shared = calls.has(url) ? documents.get(url.slice(1)) : undefined;
    if (shared && isNavigation(request)) return sendDocument(request, reply, shared);
    if ((config.auth === "bearer" || request.is404) && isNavigation(request))
      return sendDocument(request, reply.code(isAppPath(pathOf(request)) ? 200 : 404), pageOf("shell"));
  });
}

function pathOf({ url }: FastifyRequest): string {
  return url.split("?", 1)[0] ?? "";
}

function isNavigation({ method, headers }: FastifyRequest): boolean {
  return (
    (method === "GET" || method === "HEAD") &&
    headers.authorization === undefined &&
    (headers.accept ?? "").includes("text/html")
  );
}

/** No rate limit: a page loads many files, and a whole office may share one address. */
const free = { config: { rateLimit: false as const } };

function filesOf(dist: string): FastifyPluginAsync {
  return async (scope) => {
    scope.addHook("onRoute", (route) => {
      route.config = { ...route.config, ...free.config };
    });
    const shared = { index: false, preCompressed: true, cacheControl: false } as const;
    // One route for all: two hundred files, each with two, took a tenth of a start.
    await scope.register(fastifyStatic, {
      ...shared,
      root: join(dist, "assets"),
      prefix: "/assets/",
      allowedPath: (path) => /^\/[^./][^/]*(?<!\.br|\.gz)$/.test(path),
      setHeaders: (reply) => reply.setHeader("cache-control", "public, max-age=31536000, immutable"),
    });
    await scope.register(fastifyStatic, {
      ...shared,
      root: dist,
      decorateReply: false,
      wildcard: false,
      globIgnore: ["assets/**", "**/*.html", "**/*.br", "**/*.gz"],
      setHeaders: (reply) => reply.setHeader("cache-control", "no-cache"),
    });
  };
}
