import type { FastifyInstance } from "fastify";

/** Screens that need a sign-in. */
const closed = ["/dashboard", "/environments", "/billing", "/support", "/settings", "/open"];

/** robots.txt and sitemap.xml. `paths` are the public pages, `appUrl` has no trailing slash. */
export function crawlerRoutes(app: FastifyInstance, appUrl: string, paths: readonly string[]): void {
  const robots = ["User-agent: *", ...closed.map((path) => `Disallow: ${path}`), "", `Sitemap: ${appUrl}/sitemap.xml`];
  const sitemap = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    // A URL needs no other XML escaping.
    ...paths.map((path) => `  <url><loc>${`${appUrl}${path}`.replaceAll("&", "&amp;")}</loc></url>`),
    "</urlset>",
  ];
  app.get("/robots.txt", (_, reply) => reply.type("text/plain; charset=utf-8").send(`${robots.join("\n")}\n`));
  app.get("/sitemap.xml", (_, reply) => reply.type("application/xml").send(`${sitemap.join("\n")}\n`));
}
