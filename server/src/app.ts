import { createServer, type RequestListener } from "node:http";
import { currencies, productConfig } from "@berth/contract";
import Fastify, { type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import { accountRoutes } from "./account/routes.ts";
import { settingsRoutes } from "./account/settings-routes.ts";
import { billingRoutes } from "./billing/routes.ts";
import { type Config, version } from "./config.ts";
import type { Changes } from "./database/changes.ts";
import type { Db } from "./database/database.ts";
import type { Driver } from "./drivers/driver.ts";
import { filesRoutes } from "./environments/files-routes.ts";
import { logsRoutes } from "./environments/logs-routes.ts";
import { environmentRoutes } from "./environments/routes.ts";
import { AppError } from "./errors.ts";
import { type Gateway, serverOptions } from "./gateway/gateway.ts";
import { gatewayRoutes } from "./gateway/routes.ts";
import { parseBodies } from "./http/body.ts";
import { type PageSettings, readDocuments } from "./http/documents.ts";
import { handleErrors, refuseAddress } from "./http/error-handler.ts";
import { eventRoutes } from "./http/events.ts";
import { guardBrowsers } from "./http/headers.ts";
import { limitRequests } from "./http/limits.ts";
import { mount } from "./http/mount.ts";
import { describeApi } from "./http/openapi.ts";
import { servePages } from "./http/pages.ts";
import { authRoutes } from "./identity/auth-routes.ts";
import { authenticate } from "./identity/authenticate.ts";
import type { LocalIdentity } from "./identity/local.ts";
import { mailedLinkRoutes } from "./identity/mailed-link-routes.ts";
import { identityRoutes } from "./identity/routes.ts";
import { outboxPage } from "./mail/outbox-page.ts";
import { welcoming } from "./notifications/notifications.ts";
import { notificationRoutes } from "./notifications/routes.ts";
import { checkWish } from "./payments/caps.ts";
import { type EmbeddedGateway, embeddedGatewayPath } from "./payments/embedded-gateway/embedded-gateway.ts";
import type { Payments } from "./payments/payments.ts";
import { paymentRoutes } from "./payments/routes.ts";
import { remember } from "./remember.ts";
import { supportRoutes } from "./support/routes.ts";

export interface Parts {
  readonly config: Config;
  readonly appUrl: string;
  readonly db: Db;
  readonly changes: Changes;
  readonly identity: LocalIdentity;
  readonly payments: Payments;
  /** Mounted when no keys of a real provider are set. */
  readonly embeddedGateway: EmbeddedGateway | undefined;
  readonly gateway: Gateway;
  /** By host id; they read the files that are downloaded. */
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly betaEndsAt: Date;
  /** Folder of the built browser app. */
  readonly dist: string;
}

/** Assembles the HTTP side without listening, so that tests can inject requests. */
export async function buildApp(parts: Parts): Promise<FastifyInstance> {
  const { config, db, changes, identity, payments, gateway, appUrl } = parts;
  const app = Fastify({
    logger: { level: config.logLevel },
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: 64 * 1024,
    trustProxy: config.trustProxy ?? false,
    forceCloseConnections: true,
    frameworkErrors: refuseAddress,
    serverFactory: (handler) => behindGateway(gateway, handler),
  });
  parseBodies(app);
  handleErrors(app);
  const documents = await readDocuments(parts.dist, pageSettings(parts));
  await guardBrowsers(app, {
    tls: appUrl.startsWith("https:"),
    razorpay: payments.provider.kind === "razorpay",
    scripts: [...new Set([...documents.values()].flatMap(({ scripts }) => scripts))],
  });
  const whoAsks = authenticate(identity);
  await limitRequests(app, config.limits, whoAsks);
  await describeApi(app, { title: config.brand.name, version, appUrl, email: config.brand.email });
  await servePages(app, { dist: parts.dist, documents, appUrl });

  health(app, db);
  productRoutes(app, parts);
  identityRoutes(app, { db, identity });
  authRoutes(app, { db, identity, onSignUp: welcoming(config.retentionDays) });
  mailedLinkRoutes(app, { db, identity, appUrl, brandName: config.brand.name, limits: config.limits.mails });
  if (config.mail.outboxPage) outboxPage(app, { db, brandName: config.brand.name });
  environmentRoutes(app, {
    db,
    environmentUrl: gateway.hosts.environmentUrl,
    mayOrder: (tx, userId, gpuCount) => checkWish(tx, payments, userId, gpuCount),
  });
  filesRoutes(app, { db, changes, drivers: parts.drivers });
  const isSignedIn = async (request: FastifyRequest) => (await whoAsks(request)) !== undefined;
  logsRoutes(app, { db, changes, drivers: parts.drivers, isSignedIn });
  paymentRoutes(app, payments);
  gatewayRoutes(app, { db, hosts: gateway.hosts });
  accountRoutes(app, { db, identity });
  settingsRoutes(app, db);
  supportRoutes(app, { db, appUrl, supportName: config.brand.supportName, settings: config.support });
  billingRoutes(app, { db, brand: config.brand });
  notificationRoutes(app, db);
  eventRoutes(app, { changes, isSignedIn });
  parts.embeddedGateway?.routes(app);
  return app;
}

function pageSettings({ config, gateway, appUrl }: Parts): PageSettings {
  const environmentHost = new URL(gateway.hosts.environmentUrl("any")).host.slice("any.".length);
  return { ...config.brand, retentionDays: config.retentionDays, environmentHost, appUrl };
}

/** Only the app's own host reaches Fastify; environments and foreign names are the gateway's (G90). */
function behindGateway(gateway: Gateway, handler: RequestListener) {
  const server = createServer(serverOptions, (request, reply) =>
    gateway.hosts.kindOf(request.headers.host) === "app" ? handler(request, reply) : gateway.onRequest(request, reply),
  );
  server.on("upgrade", gateway.onUpgrade);
  server.on("clientError", gateway.onClientError);
  return server;
}

function health(app: FastifyInstance, db: Db): void {
  // Whoever watches over the server comes by the same proxy as everybody: neither has a limit, nor costs much.
  const free = { config: { rateLimit: false as const } };
  const answers = remember(() => db.selectFrom("installation").select("id").execute(), 1000);
  app.get("/healthz", free, async () => ({ status: "success", version }));
  app.get("/readyz", free, async () => {
    await answers().catch((cause) => {
      throw new AppError("unavailable", "The database does not answer", { cause, retryAfterSeconds: 5 });
    });
    return { status: "success" };
  });
}

function productRoutes(
  app: FastifyInstance,
  { config, payments: { provider }, identity, gateway, betaEndsAt }: Parts,
): void {
  mount(app, productConfig, async () => ({
    version,
    brand: config.brand,
    environmentUrl: gateway.hosts.environmentUrl("{subdomain}"),
    identity: { kind: identity.kind, ...identity.browserConfig() },
    payments: {
      mode: provider.mode,
      scriptUrl:
        provider.kind === "razorpay"
          ? "https://checkout.razorpay.com/v1/checkout.js"
          : `${embeddedGatewayPath}/checkout.js`,
      currencies: [...currencies],
      minimumMinor: provider.minimumMinor,
    },
    beta: { endsAt: betaEndsAt.toISOString() },
    gpu: { model: "RTX 4070", memoryGb: 12 },
    retentionDays: config.retentionDays,
    support: config.support,
  }));
}
