import { isDeepStrictEqual } from "node:util";
import { type Catalogue, defaultCatalogue, type GpuModel, pricesAt, productConfig } from "@berth/contract";
import Fastify, { type FastifyBaseLogger, type FastifyInstance, type FastifyRequest, LogController } from "fastify";
import { accountRoutes } from "../account/account-routes.ts";
import { settingsRoutes } from "../account/settings-routes.ts";
import { sshKeyRoutes } from "../account/ssh-keys/ssh-key-routes.ts";
import { keepLatest } from "../async/keep-latest.ts";
import { billingRoutes } from "../billing/billing-routes.ts";
import { type Config, version } from "../config/config.ts";
import type { Changes } from "../database/changes.ts";
import type { Db } from "../database/database.ts";
import { newId } from "../database/new-id.ts";
import type { Driver } from "../drivers/driver.ts";
import { environmentRoutes } from "../environments/api/environment-routes.ts";
import { keptFilesRoutes } from "../environments/api/kept-files-routes.ts";
import { logRoutes } from "../environments/api/log-routes.ts";
import type { JumpHost } from "../environments/api/ssh-access.ts";
import { readGpuModels } from "../environments/hosts/read-gpu-models.ts";
import type { MayOrder } from "../environments/queue/join-queue.ts";
import { frontServer } from "../gateway/front-server.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { gatewayRoutes } from "../gateway/sign-in/gateway-routes.ts";
import type { HostNames } from "../gateway/target/host-names.ts";
import { trustedProxies } from "../http/client-address.ts";
import { describeApi } from "../http/describe-api.ts";
import { type Documents, type PageSettings, readDocuments } from "../http/documents.ts";
import { eventRoutes } from "../http/event-routes.ts";
import { guardBrowsers } from "../http/guard-browsers.ts";
import { handleErrors, refuseAddress } from "../http/handle-errors.ts";
import { healthRoutes } from "../http/health-routes.ts";
import { limitRequests } from "../http/limit-requests.ts";
import { mount } from "../http/mount.ts";
import { nameRequests } from "../http/name-requests.ts";
import { namedLimits } from "../http/named-limits.ts";
import { noSchemas } from "../http/no-schemas.ts";
import type { OperatorPages } from "../http/operator-pages.ts";
import { parseBodies } from "../http/parse-bodies.ts";
import { servePages } from "../http/serve-pages.ts";
import { startRedrawingPages } from "../http/start-redrawing-pages.ts";
import { authRoutes } from "../identity/auth-routes.ts";
import { authenticate } from "../identity/authenticate.ts";
import type { HostedIdentity } from "../identity/firebase/firebase-identity.ts";
import { identityRoutes } from "../identity/local/identity-routes.ts";
import type { LocalIdentity } from "../identity/local/local-identity.ts";
import { mailedLinkRoutes } from "../identity/mailed-link-routes.ts";
import { passkeyRoutes } from "../identity/passkey-routes.ts";
import { linkRoutes } from "../identity/providers/link-routes.ts";
import { openProviders } from "../identity/providers/open-providers.ts";
import { type ProviderRoutesDeps, providerRoutes } from "../identity/providers/provider-routes.ts";
import { requireFactor } from "../identity/require-factor.ts";
import { secondFactorRoutes } from "../identity/second-factor-routes.ts";
import { signInRoutes } from "../identity/sign-in-routes.ts";
import type { Disk } from "../installation/free-space.ts";
import type { Logger } from "../logging/create-logger.ts";
import { outboxPage } from "../mail/outbox-page.ts";
import { countRequests } from "../metrics/count-requests.ts";
import type { Metrics } from "../metrics/create-metrics.ts";
import { notificationRoutes } from "../notifications/notification-routes.ts";
import { welcoming } from "../notifications/notifications.ts";
import { creditRoutes } from "../payments/credits/credit-routes.ts";
import { type EmbeddedProvider, embeddedProviderPath } from "../payments/embedded-provider/embedded-provider.ts";
import { paymentRoutes } from "../payments/orders/payment-routes.ts";
import { checkQuota } from "../payments/orders/reserve-order.ts";
import type { PaymentsDeps } from "../payments/provider/payments-deps.ts";
import { supportRoutes } from "../support/support-routes.ts";

export interface AppDeps {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly appUrl: string;
  /** The installation's. */
  readonly secret: Buffer;
  readonly db: Db;
  readonly changes: Changes;
  readonly identity: LocalIdentity | HostedIdentity;
  readonly payments: PaymentsDeps;
  /** Undefined with the keys of a real provider. */
  readonly embeddedProvider: EmbeddedProvider | undefined;
  /** Classifies hosts, and builds the URLs of environments. */
  readonly hosts: HostNames;
  /** Undefined if another process has the role. */
  readonly gateway: Gateway | undefined;
  /** Access to the operator's pages. */
  readonly local: OperatorPages;
  /** Undefined where SSH is switched off. */
  readonly jumpHost: JumpHost | undefined;
  /** By host id; used to read logs and downloaded files. */
  readonly drivers: ReadonlyMap<string, Driver>;
  readonly betaEndsAt: Date;
  /** Free space on the data folder's disk. */
  readonly disk: () => Promise<Disk>;
  /** Build output of the browser app. */
  readonly dist: string;
}

/** Builds the HTTP app without listening, so that tests can inject requests. */
export async function buildApp(deps: AppDeps): Promise<FastifyInstance> {
  const { config, db, changes, identity, payments, hosts, appUrl } = deps;
  const app = openApp(deps);
  const documents = await drawDocuments(app, deps);
  guardBrowsers(app, {
    tls: appUrl.startsWith("https:"),
    razorpay: payments.provider.kind === "razorpay",
    identity: foreignOrigins(identity, appUrl),
    scripts: [...new Set([...documents.values()].flatMap(({ scripts }) => scripts))],
  });
  const authenticateRequest = authenticate(identity);
  await limitRequests(app, config.limits, { db, authenticate: authenticateRequest });
  if (config.secondFactor === "required" && identity.secondFactors) requireFactor(app, identity.secondFactors);
  const { name: title, email } = config.brand;
  describeApi(app, { title, version, appUrl, email, catalogue: config.catalogue });
  await servePages(app, { dist: deps.dist, documents, appUrl });

  healthRoutes(app, { db, version, disk: deps.disk });
  await productRoutes(app, deps);
  const onSignUp = welcoming(config.retentionDays, config.catalogue);
  const providers = openProviders(config.providers);
  if (identity.kind === "local") ownIdentityRoutes(app, { ...deps, identity, providers, onSignUp });
  authRoutes(app, { db, identity, onSignUp });
  secondFactorRoutes(app, { db, identity, brandName: config.brand.name, mode: config.secondFactor });
  passkeyRoutes(app, { identity, brandName: config.brand.name, contact: config.brand.email });
  signInRoutes(app, { identity, nameOf: providers.nameOf });
  mailedLinkRoutes(app, { db, identity, appUrl, brandName: config.brand.name, limits: config.limits.mails });
  if (config.mail.outboxPage) outboxPage(app, { db, brandName: config.brand.name, local: deps.local });
  const mayOrder: MayOrder = (tx, userId, gpuCount) => checkQuota(tx, payments, userId, gpuCount);
  const { catalogue } = config;
  environmentRoutes(app, { db, environmentUrl: hosts.environmentUrl, catalogue, mayOrder, jumpHost: deps.jumpHost });
  keptFilesRoutes(app, { db, changes, drivers: deps.drivers });
  const isSignedIn = async (request: FastifyRequest) => (await authenticateRequest(request)) !== undefined;
  logRoutes(app, { db, changes, drivers: deps.drivers, isSignedIn });
  paymentRoutes(app, payments);
  creditRoutes(app, { db, triesPerMinute: config.limits.signInsPerMinute });
  gatewayRoutes(app, { db, hosts });
  accountRoutes(app, { db, identity });
  settingsRoutes(app, db);
  sshKeyRoutes(app, { db, announce: payments.announce });
  supportRoutes(app, { db, appUrl, supportName: config.brand.supportName, settings: config.support });
  billingRoutes(app, { db, brand: config.brand });
  notificationRoutes(app, db);
  eventRoutes(app, { changes, isSignedIn });
  deps.embeddedProvider?.routes(app, deps.local);
  return app;
}

/** What a hosted provider has instead of us. */
function ownIdentityRoutes(
  app: FastifyInstance,
  {
    config,
    db,
    secret,
    appUrl,
    payments,
    ...deps
  }: AppDeps & Pick<ProviderRoutesDeps, "onSignUp" | "providers"> & { readonly identity: LocalIdentity },
): void {
  const { identity, providers, onSignUp } = deps;
  const contact = config.brand.email;
  identityRoutes(app, { db, identity, contact });
  const shared = { db, identity, providers, secret, appUrl };
  providerRoutes(app, { ...shared, contact, onSignUp });
  linkRoutes(app, { ...shared, announce: payments.announce });
}

/** Where the browser signs in, if not at our own address. */
function foreignOrigins(identity: AppDeps["identity"], appUrl: string): string[] {
  const { accountsUrl, tokenUrl } = identity.browserConfig();
  const origins = new Set([accountsUrl, tokenUrl].map((url) => new URL(url).origin));
  origins.delete(new URL(appUrl).origin);
  return [...origins];
}

/** The server in front, without routes: what holds for each of them. */
function openApp({ config, log, metrics, hosts, gateway, appUrl }: AppDeps): FastifyInstance {
  const trustProxy = trustedProxies(config.trustProxy);
  const app = Fastify({
    schemaController: noSchemas,
    loggerInstance: log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "requestId" }),
    genReqId: newId,
    bodyLimit: 64 * 1024,
    trustProxy,
    forceCloseConnections: true,
    frameworkErrors: refuseAddress,
    serverFactory: (handler) => frontServer({ hosts, appUrl, trustProxy, gateway, app: handler }),
  });
  nameRequests(app);
  countRequests(app, metrics);
  parseBodies(app);
  handleErrors(app);
  return app;
}

/** The pages, which follow the versions of the catalogue until the app closes. */
async function drawDocuments(app: FastifyInstance, deps: AppDeps): Promise<Documents> {
  const draw = async () =>
    readDocuments(deps.dist, { ...(await pageSettings(deps)), limits: namedLimits(deps.config, new Date()) });
  const drawnAt = Date.now();
  const documents = await draw();
  const { catalogue } = deps.config;
  const named = () => gpusOf(deps.db, catalogue);
  const loop = startRedrawingPages({ documents, draw, named, catalogue, drawnAt, log: deps.log });
  app.addHook("onClose", loop.stop);
  return documents;
}

async function pageSettings({ config, db, hosts, appUrl }: AppDeps): Promise<Omit<PageSettings, "limits">> {
  const environmentHost = new URL(hosts.environmentUrl("any")).host.slice("any.".length);
  const own = { ...config.catalogue, gpus: await gpusOf(db, config.catalogue) };
  const catalogue = isDeepStrictEqual(own, defaultCatalogue) ? undefined : own;
  const signInProviders = openProviders(config.providers).all.map(({ key, name }) => ({ key, name }));
  return { ...config.brand, retentionDays: config.retentionDays, environmentHost, appUrl, catalogue, signInProviders };
}

/** What the hosts have, else what the catalogue names (G128). */
async function gpusOf(db: Db, catalogue: Catalogue): Promise<Catalogue["gpus"]> {
  const found = await readGpuModels(db);
  return found.length > 0 ? [...found] : catalogue.gpus;
}

async function productRoutes(
  app: FastifyInstance,
  { config, db, payments: { provider }, identity, hosts, betaEndsAt }: AppDeps,
): Promise<void> {
  const gpus = await keepLatest(async () => named(await gpusOf(db, config.catalogue)), gpusMs);
  mount(app, productConfig, async () => ({
    version,
    brand: config.brand,
    environmentUrl: hosts.environmentUrl("{subdomain}"),
    identity: { kind: identity.kind, ...identity.browserConfig() },
    payments: {
      mode: provider.mode,
      scriptUrl:
        provider.kind === "razorpay"
          ? "https://checkout.razorpay.com/v1/checkout.js"
          : `${embeddedProviderPath}/checkout.js`,
      currencies: pricesAt(config.catalogue, new Date()).currencies.map(({ code }) => code),
      minimumMinor: provider.minimumMinor,
    },
    beta: { endsAt: betaEndsAt.toISOString() },
    ...gpus(),
    catalogue: config.catalogue,
    retentionDays: config.retentionDays,
    support: config.support,
  }));
}

/** A new host's GPUs are shown so much later at most. */
const gpusMs = 60_000;

function named(gpus: readonly GpuModel[]): { gpu: GpuModel; gpus: GpuModel[] } {
  const [gpu] = gpus;
  if (!gpu) throw new Error("a catalogue without GPUs");
  return { gpu, gpus: [...gpus] };
}
