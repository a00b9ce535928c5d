import { once } from "node:events";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { allLoops, type Loop } from "./async/start-interval.ts";
import { acceptCatalogue } from "./catalogue/accept-catalogue.ts";
import { startAnnouncingChanges } from "./catalogue/start-announcing-changes.ts";
import { digestSettings } from "./config/compared-settings.ts";
import { type Config, ConfigError, readConfig } from "./config/config.ts";
import { readSettingsFile } from "./config/settings-file.ts";
import { type Changes, openChanges } from "./database/changes.ts";
import type { Connection } from "./database/connection.ts";
import { type Db, isLostConnection, openDatabase } from "./database/database.ts";
import { startEmbedded } from "./database/embedded.ts";
import { requireNotifications } from "./database/hears-notifications.ts";
import { startFirewall } from "./drivers/docker/firewall/start-firewall.ts";
import { revokeAccess } from "./environments/api/revoke-access.ts";
import type { Announce } from "./environments/notice.ts";
import { probeReadiness } from "./gateway/forward/probe-readiness.ts";
import { frontServer } from "./gateway/front-server.ts";
import { createGateway, type Gateway } from "./gateway/gateway.ts";
import { createHostNames } from "./gateway/target/host-names.ts";
import { trustedProxies } from "./http/client-address.ts";
import { drain } from "./http/drain.ts";
import { type OperatorPages, operatorPages } from "./http/operator-pages.ts";
import { localIdentity } from "./identity/local/local-identity.ts";
import { checkDiskSpace, diskOf, startDiskWatch } from "./installation/free-space.ts";
import { inheritedSocket } from "./installation/inherited-socket.ts";
import {
  checkSecret,
  installationOf,
  installationSecret,
  openDataDir,
  operatorKey,
} from "./installation/installation.ts";
import { notifyReady } from "./installation/notify-ready.ts";
import { createLogger, type Logger, logError } from "./logging/create-logger.ts";
import { startOutbox } from "./mail/outbox.ts";
import { outboxPath } from "./mail/outbox-page.ts";
import { countMails } from "./metrics/count-mails.ts";
import { createMetrics, type Metrics } from "./metrics/create-metrics.ts";
import { announcer } from "./notifications/announcer.ts";
import { startBackups } from "./operator/backup/start-backups.ts";
import { startConsole } from "./operator/console/start-console.ts";
import { startAnnouncing } from "./operator/messages/start-announcing.ts";
import { settingsOf, startPresence } from "./operator/process-registry.ts";
import { outcomesPath } from "./payments/embedded-provider/embedded-provider.ts";
import { delivery } from "./payments/settlement/delivery.ts";
import { buildApp } from "./roles/build-app.ts";
import { environmentLoops } from "./roles/environment-loops.ts";
import { failureOf } from "./roles/failure-of.ts";
import { checkPort, isServer, type ListenPlace, listenPlace } from "./roles/listen-place.ts";
import { localFirewall, openMachines } from "./roles/open-machines.ts";
import { openPayments, paymentLoops } from "./roles/open-payments.ts";
import { serveMetrics } from "./roles/serve-metrics.ts";
import { settingWarnings } from "./roles/setting-warnings.ts";
import { startPurging } from "./roles/start-purging.ts";

const dist = fileURLToPath(new URL("../../web/dist", import.meta.url));
const consoleDist = fileURLToPath(new URL("../../web/dist-console", import.meta.url));

try {
  const settings = readSettingsFile(process.env);
  const config = readConfig(settings.variables);
  const metrics = createMetrics();
  const log = createLogger({
    level: config.logLevel,
    roles: config.roles,
    outageOf: (error) => (isLostConnection(error) ? "database.unreachable" : undefined),
    onLine: (line, event) => metrics.logLines.inc({ level: line, event }),
  });
  process.on("unhandledRejection", logError(log, "process.unhandled_rejection"));
  for (const text of settings.warnings) log.warn({ event: "setting.warning" }, text);
  await start(config, log, metrics);
  process.exit(0);
} catch (error) {
  console.error(failureOf(error));
  process.exit(1);
}

/** Wires the product: settings, database, ports, then the roles. A signal or a failed start closes everything in reverse. */
async function start(config: Config, log: Logger, metrics: Metrics): Promise<void> {
  await using resources = new AsyncDisposableStack();
  // Registered first: an interrupted start would leave its database running.
  const stopped = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  const { roles } = config;
  const dataDir = resolve(config.dataDir);
  const place = isServer(config) ? await listenPlace(config, inheritedSocket(process.env)) : config;
  const { port } = place;
  const appUrl = config.appUrl ?? `http://localhost:${port}`;
  openDataDir(dataDir, log);
  const secret = installationSecret(dataDir, config.secret);
  const local = operatorPages({
    key: operatorKey(dataDir, secret, { alone: config.database.kind === "embedded" }),
    appUrl,
  });
  const { installation, db, pool, listen, changes } = await openStore({ config, dataDir, secret, log }, resources);

  const announce = announcer({ appUrl, brandName: config.brand.name });
  const address = { port, place, appUrl };
  const common = { ...address, config, log, metrics, dataDir, secret, installation, db, changes, announce, local };
  const gateway = roles.has("gateway")
    ? await createGateway({
        ...{ db, changes, listen, appUrl, secret, log },
        envHost: config.envHost,
        trustProxy: trustedProxies(config.trustProxy),
      })
    : undefined;
  if (gateway) resources.defer(gateway.close);
  const rental = rents(config) ? await openRental(common, resources) : undefined;
  if (rental && roles.has("api")) resources.defer(await serveApp({ ...common, ...rental, gateway }));
  else if (gateway) resources.defer(await serveEnvironments({ ...common, gateway }));
  const settings = { ...settingsOf(config), port, appUrl, digests: digestSettings(config.compared, secret) };
  resources.defer((await startPresence({ db, roles, settings, log })).stop);
  // Stopped before the app, where loops call the embedded provider, and concurrently, because each may wait for a host or relay.
  const loops = rental && roles.has("worker") ? workerLoops({ ...common, ...rental }) : [];
  resources.defer(allLoops([...loops, startDiskWatch(dataDir, log)]).stop);
  const consoleLines = await serveConsole(common, resources);
  const health = await serveMetrics({ ...common, pool, gateway, rental });
  if (health) resources.defer(health.close);
  for (const text of settingWarnings(config)) log.warn({ event: "setting.warning" }, text);
  for (const line of [...pageLines(config, local), ...consoleLines]) console.log(line);
  if (health) console.log(`Health checks are at ${health.url}/healthz and ${health.url}/readyz, metrics at /metrics`);
  console.log(
    isServer(config) ? `${config.brand.name} is ready at ${appUrl}` : `${config.brand.name}'s worker is ready`,
  );
  await notifyReady(process.env).catch(logError(log, "process.notify_failed"));
  await firstOf(stopped, rental);
}

/** A signal; or an error, when workers of another machine took over. */
async function firstOf(stopped: Promise<unknown>, rental: Rental | undefined): Promise<void> {
  await Promise.race([stopped, ...(rental?.membership ? [rental.membership.lost] : [])]);
}

function rents({ roles }: Config): boolean {
  return roles.has("api") || roles.has("worker");
}

async function openStore({ config, dataDir, secret, log }: StoreDeps, resources: AsyncDisposableStack) {
  const connection = await connectionOf({ config, dataDir, log }, resources);
  const database = await openDatabase(connection, log).catch((error) => {
    const outside = config.database.kind === "external" && isLostConnection(error);
    throw outside ? new ConfigError(`The database of DATABASE_URL cannot be reached: ${error.message}`) : error;
  });
  resources.defer(database.close);
  const { db, pool } = database;
  if (config.database.kind === "external") await requireNotifications(db, connection);
  if (rents(config)) await acceptCatalogue(db, config);
  const installation = await installationOf(db);
  await checkSecret(db, secret, { alone: config.database.kind === "embedded" });
  return { installation, db, pool, listen: database.listen, changes: await openChanges(database) };
}

interface StoreDeps {
  readonly config: Config;
  readonly dataDir: string;
  readonly secret: Buffer;
  readonly log: Logger;
}

interface Common extends StoreDeps {
  readonly metrics: Metrics;
  readonly port: number;
  readonly place: ListenPlace;
  readonly appUrl: string;
  readonly installation: { readonly id: string; readonly startedAt: Date };
  readonly db: Db;
  readonly changes: Changes;
  readonly announce: Announce;
  readonly local: OperatorPages;
}

type Rental = Awaited<ReturnType<typeof openRental>>;

/** The dependencies of API and worker: machines and payments. */
async function openRental(
  { config, dataDir, log, metrics, port, installation, db, changes, announce, local }: Common,
  resources: AsyncDisposableStack,
) {
  const machines = await openMachines({ config, dataDir, install: installation.id, db, log });
  if (machines.membership) resources.defer(machines.membership.stop);
  for (const { close } of machines.remotes) resources.defer(close);
  const checkRoom = () => checkDiskSpace(dataDir);
  const money = await openPayments(config, port, { db, changes, announce, log, metrics, local, checkRoom }, resources);
  return { ...machines, money };
}

async function serveApp(
  deps: Common & Rental & { readonly gateway: Gateway | undefined },
): Promise<() => Promise<void>> {
  const { config, appUrl, db, secret, announce, installation, dataDir } = deps;
  const app = await buildApp({
    ...deps,
    ...deps.money,
    hosts: createHostNames({ appUrl, envHost: config.envHost }),
    identity: localIdentity({ db, secret, appUrl, limits: config.limits, announce, endRights: revokeAccess }),
    betaEndsAt: betaEnd(config.betaStartsAt ?? installation.startedAt),
    disk: () => diskOf(dataDir),
    dist,
  });
  await app.listen(deps.place);
  checkPort(app.server, deps.place);
  return async () => {
    await drain(app.server, { others: () => runningRequests(deps.gateway), noticed: sleep(config.drainMs) });
    // The server stays open as long as a WebSocket.
    await deps.gateway?.close();
    await app.close();
  };
}

async function serveEnvironments(deps: Common & { readonly gateway: Gateway }): Promise<() => Promise<void>> {
  const { config, appUrl, place, gateway } = deps;
  const server = frontServer({ hosts: gateway.hosts, appUrl, trustProxy: trustedProxies(config.trustProxy), gateway });
  server.listen(place);
  await once(server, "listening");
  checkPort(server, place);
  return () => drain(server, { others: () => runningRequests(gateway), noticed: sleep(config.drainMs) });
}

/** WebSockets end with the gateway: notebooks connect again by themselves. */
function runningRequests(gateway: Gateway | undefined): number {
  return gateway ? gateway.openSockets - gateway.counts.openWebSockets : 0;
}

function workerLoops(deps: Common & Rental): Loop[] {
  const { config, log, metrics, db, changes, drivers, announce, installation, money, remote, remotes, port } = deps;
  const { smtp } = config.mail;
  const deliver = delivery({ announce });
  return [
    ...(config.runtime === "docker" ? [startFirewall(localFirewall(config, installation.id, port), log)] : []),
    ...environmentLoops(config, remotes, deps.clusters, {
      ...remote,
      ...{
        db,
        changes,
        drivers,
        workerId: deps.membership?.id,
        delivery: deliver,
        announce,
        isReady: probeReadiness,
        log,
      },
    }),
    ...paymentLoops(money, log),
    ...(smtp ? [startOutbox({ db, changes, smtp, log, onAttempt: countMails(metrics) })] : []),
    startAnnouncingChanges({ db, changes, announce, log }),
    startPurging(db, log),
    startAnnouncing({ db, announce, log }),
    ...(config.backup ? [startBackups({ db, config, schedule: config.backup, log })] : []),
  ];
}

/** Returns the line that names its address. */
async function serveConsole(deps: Common, resources: AsyncDisposableStack): Promise<string[]> {
  const started = await startConsole({ ...deps, dist: consoleDist });
  if (!started) return [];
  resources.defer(started.close);
  return [`The operator's console is at ${started.url}`];
}

async function connectionOf(
  { config, dataDir, log }: Omit<StoreDeps, "secret">,
  resources: AsyncDisposableStack,
): Promise<Connection> {
  const { database } = config;
  if (database.kind === "external") return { connectionString: database.url, listenString: database.listenUrl };
  const embedded = await startEmbedded({ directory: join(dataDir, "database"), log });
  resources.defer(embedded.stop);
  return embedded.connection;
}

/** URLs of the operator's pages, with the key (G110). */
function pageLines({ mail, payments, roles }: Config, { address }: OperatorPages): string[] {
  if (!roles.has("api")) return [];
  return [
    ...(mail.outboxPage ? [`Mails are read at ${address(outboxPath)}`] : []),
    ...(payments.kind === "embedded" ? [`What happens to test payments is chosen at ${address(outcomesPath)}`] : []),
  ];
}

/** The beta lasts one calendar month (spec 9.4, G34). */
function betaEnd(startedAt: Date): Date {
  const end = new Date(startedAt);
  end.setUTCMonth(end.getUTCMonth() + 1);
  return end;
}
