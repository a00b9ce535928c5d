import type { IncomingMessage, ServerResponse } from "node:http";
import type { FastifyInstance } from "fastify";
import helmet, { type HelmetOptions } from "helmet";
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
export function guardBrowsers(app: FastifyInstance, options: Options): void {
  const security = headersOf(securityOptions(options));
  app.addHook("onRequest", (_, reply, done) => {
    // Also for replies that are streamed past Fastify.
    for (const [name, value] of security) reply.raw.setHeader(name, value);
    done();
  });
  app.addHook("onRequest", async ({ method, headers, routeOptions }, reply) => {
    if (routeOptions.config.auth === "bearer") reply.header("cache-control", "no-store");
    const site = headers["sec-fetch-site"];
    if (method === "GET" || method === "HEAD" || site === undefined) return;
    if (site !== "same-origin" && site !== "none") throw new AppError("forbidden", "Not from another site");
  });
}

/** What helmet sets on any response. Its middleware would write the same texts anew for each one. */
function headersOf(options: HelmetOptions): readonly (readonly [string, string])[] {
  const headers: [string, string][] = [];
  const response = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader() {},
  };
  helmet(options)({} as IncomingMessage, response as unknown as ServerResponse, () => {});
  return headers;
}

function securityOptions({ tls, razorpay, identity = [], scripts }: Options): HelmetOptions {
  const foreign = (...hosts: string[]) => (razorpay ? hosts.map((host) => `https://${host}.razorpay.com`) : []);
  return {
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
  };
}
