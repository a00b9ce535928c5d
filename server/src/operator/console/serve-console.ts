import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { type Documents, sendDocument } from "../../http/documents.ts";
import { wire } from "../../http/handle-errors.ts";
import { notFound } from "../../http/mount.ts";

const root = "/operator";

/** Serves the console's one page under /operator, for every path of it, and its files. */
export async function serveConsole(app: FastifyInstance, dist: string, documents: Documents): Promise<void> {
  app.get("/", (_, reply) => reply.redirect(root, 303));
  const page = documents.get("index");
  if (page)
    await app.register(fastifyStatic, {
      root: `${dist}/assets`,
      prefix: `${root}/assets/`,
      wildcard: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders: (reply) => reply.setHeader("cache-control", "public, max-age=31536000, immutable"),
    });
  app.setNotFoundHandler((request, reply) => {
    const { method, url, headers } = request;
    const isPage = (method === "GET" || method === "HEAD") && /^\/operator(?!\/(api|assets)\/)([/?]|$)/.test(url);
    if (page && isPage && headers.accept?.includes("text/html")) return sendDocument(request, reply, page);
    return reply.code(404).send(wire(notFound()));
  });
}
