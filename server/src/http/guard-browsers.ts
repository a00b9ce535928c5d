import helmet from "@fastify/helmet";
import type { FastifyInstance } from "fastify";
import { AppError } from "../app-error.ts";

interface Options {
  readonly tls: boolean;
  /** Third-party sources are allowed only with Razorpay's keys (docs/internals/reliability.md). */
  readonly razorpay: boolean;
  /** Origins of an identity provider elsewhere. */
  readonly identity?: readonly string[];
  /** Sources in script-src besides our own files. */
  readonly scripts: readonly string[];
}

/**
 * Security headers of every response (CSP, HSTS), no cache for what an account reads, and the CSRF check for requests of
 * other sites.
 */
export async function guardBrowsers(
  app: FastifyInstance,
  { tls, razorpay, identity = [], scripts }: Options,
): Promise<void> {
  const foreign = (...hosts: string[]) => (razorpay ? hosts.map((host) => `https://${host}.razorpay.com`) : []);
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        scriptSrc: ["'self'", ...scripts, ...foreign("checkout")],
        // Mantine writes CSS variables into style elements and attributes.
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", "data:", ...foreign("cdn")],
        connectSrc: ["'self'", ...identity, ...foreign("lumberjack", "api")],
        frameSrc: ["'self'", ...foreign("api")],
        fontSrc: ["'self'"],
        objectSrc: ["'none'"],
        baseUri: ["'none'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
        ...(tls && { upgradeInsecureRequests: [] }),
      },
    },
    crossOriginOpenerPolicy: { policy: razorpay ? "same-origin-allow-popups" : "same-origin" },
    crossOriginEmbedderPolicy: false,
    frameguard: { action: "deny" },
    referrerPolicy: { policy: "strict-origin-when-cross-origin" },
    hsts: tls && { maxAge: 31_536_000 },
  });
  app.addHook("onRequest", async ({ method, headers, routeOptions }, reply) => {
    if (routeOptions.config.auth === "bearer") reply.header("cache-control", "no-store");
    const site = headers["sec-fetch-site"];
    if (method === "GET" || method === "HEAD" || site === undefined) return;
    if (site !== "same-origin" && site !== "none") throw new AppError("forbidden", "Not from another site");
  });
}
