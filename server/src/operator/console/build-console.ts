import rateLimit from "@fastify/rate-limit";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, LogController } from "fastify";
import { AppError } from "../../app-error.ts";
import { trustedProxies } from "../../http/client-address.ts";
import { readDocuments } from "../../http/documents.ts";
import { guardBrowsers } from "../../http/guard-browsers.ts";
import { handleErrors, refuseAddress } from "../../http/handle-errors.ts";
import { noSchemas } from "../../http/no-schemas.ts";
import { parseBodies } from "../../http/parse-bodies.ts";
import { IdentityError } from "../../identity/identity.ts";
import { refusalOf } from "../../identity/refusal-of.ts";
import { RefundRefused } from "../../payments/refunds/grant-refund.ts";
import { CapacityRefused } from "../capacity/capacity-refused.ts";
import { auditRoutes } from "./audit-routes.ts";
import { catalogueRoutes } from "./catalogue-routes.ts";
import type { ConsoleDeps } from "./console-deps.ts";
import { creditRoutes } from "./credit-routes.ts";
import { environmentRoutes } from "./environment-routes.ts";
import { guardConsole } from "./guard-console.ts";
import { knownBrowsers } from "./known-browsers.ts";
import { machineRoutes } from "./machine-routes.ts";
import { messageRoutes } from "./message-routes.ts";
import { miningRoutes } from "./mining-routes.ts";
import { nowRoutes } from "./now-routes.ts";
import { operatorSessions } from "./operator-sessions.ts";
import { orderRoutes } from "./order-routes.ts";
import { peopleRoutes } from "./people-routes.ts";
import { serveConsole } from "./serve-console.ts";
import { sendCookies, sessionRoutes } from "./session-routes.ts";

/** What an act throws when it cannot be done; the message is for the operator. */
const refusals = [CapacityRefused, RefundRefused];
const isRefusal = (error: unknown): error is Error => refusals.some((kind) => error instanceof kind);

/** Builds the console without listening. It is a server of its own: nothing of it is on the tenants' port (G143). */
export async function buildConsole(deps: ConsoleDeps): Promise<FastifyInstance> {
  const { config, db, secret, url, dist, log } = deps;
  const app = Fastify({
    schemaController: noSchemas,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    bodyLimit: 64 * 1024,
    trustProxy: trustedProxies(config.trustProxy),
    forceCloseConnections: true,
    requestTimeout: 30_000,
    frameworkErrors: refuseAddress,
  });
  parseBodies(app);
  handleErrors(app);
  const sessions = operatorSessions(db, secret);
  const documents = await readDocuments(dist, pageSettings(deps));
  const scripts = [...new Set([...documents.values()].flatMap((page) => page.scripts))];
  guardBrowsers(app, { tls: url.startsWith("https:"), razorpay: false, scripts });
  const browsers = knownBrowsers(secret);
  await app.register(rateLimit, { global: false });
  guardConsole(app, { url, sessions, browsers });
  sendCookies(app);
  await serveConsole(app, dist, documents);
  await app.register(async (scope) => {
    scope.setErrorHandler((error) => {
      if (isRefusal(error)) throw new AppError("action_not_allowed", error.message);
      throw (error instanceof IdentityError && refusalOf(error)) || error;
    });
    sessionRoutes(scope, { ...deps, sessions, browsers });
    nowRoutes(scope, deps);
    machineRoutes(scope, deps);
    environmentRoutes(scope, deps);
    miningRoutes(scope, deps);
    orderRoutes(scope, deps);
    catalogueRoutes(scope, deps);
    peopleRoutes(scope, deps);
    creditRoutes(scope, deps);
    messageRoutes(scope, deps);
    auditRoutes(scope, deps);
  });
  return app;
}

function pageSettings({ config, url, appUrl }: ConsoleDeps) {
  const { brand, retentionDays, envHost: environmentHost } = config;
  const limits = { DOCS_URL: `${appUrl}/docs` };
  return { ...brand, retentionDays, environmentHost, appUrl: url, limits, catalogue: undefined, signInProviders: [] };
}
