import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { allLoops, type Loop } from "../async/start-interval.ts";
import { acceptCatalogue } from "../catalogue/accept-catalogue.ts";
import { startAnnouncingChanges } from "../catalogue/start-announcing-changes.ts";
import { digestSettings } from "../config/compared-settings.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { operatorAddress } from "../config/speaking-defaults.ts";
import { type Changes, openChanges } from "../database/changes.ts";
import { type Connection, isLostConnection } from "../database/connection.ts";
import { type Database, type Db, openDatabase } from "../database/database.ts";
import { requireNotifications } from "../database/hears-notifications.ts";
import type { Announce } from "../environments/notice.ts";
import { probeReadiness } from "../gateway/forward/probe-readiness.ts";
import { frontServer } from "../gateway/front-server.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { createHostNames } from "../gateway/target/host-names.ts";
import { trustedProxies } from "../http/client-address.ts";
import { drain } from "../http/drain.ts";
import { type OperatorPages, operatorPages } from "../http/operator-pages.ts";
import { checkDiskSpace, diskOf, startDiskWatch } from "../installation/free-space.ts";
import { checkSecret, installationOf, operatorKey } from "../installation/installation.ts";
import { notifyReady } from "../installation/notify-ready.ts";
import { type Logger, logError } from "../logging/create-logger.ts";
import { outboxPath } from "../mail/outbox-page.ts";
import { countMails } from "../metrics/count-mails.ts";
import type { Metrics } from "../metrics/create-metrics.ts";
import { announcer } from "../notifications/announcer.ts";
import { startAnnouncing } from "../operator/messages/start-announcing.ts";
import { settingsOf, startPresence } from "../operator/process-registry.ts";
import { outcomesPath } from "../payments/embedded-provider/embedded-provider.ts";
import { delivery } from "../payments/settlement/delivery.ts";
import { buildApp } from "./build-app.ts";
import { environmentLoops } from "./environment-loops.ts";
import { jumpHostOf } from "./jump-host-of.ts";
import { checkPort, isServer, type ListenPlace } from "./listen-place.ts";
import { openIdentity } from "./open-identity.ts";
import { localFirewall, openMachines } from "./open-machines.ts";
import { openPayments, paymentLoops } from "./open-payments.ts";
import { serveMetrics } from "./serve-metrics.ts";
import { serveSsh } from "./serve-ssh.ts";
import { settingWarnings } from "./setting-warnings.ts";
import { startPurging } from "./start-purging.ts";

const dist = fileURLToPath(new URL("../../../web/dist", import.meta.url));
const consoleDist = fileURLToPath(new URL("../../../web/dist-console", import.meta.url));

/** What main.ts has before the rest of the server is loaded. */
export interface Begun {
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly dataDir: string;
  readonly secret: Buffer;
  readonly place: ListenPlace;
  readonly connection: Promise<Connection>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes a line for the operator. */
  readonly print: (line: string) => void;
  /** Settles at a signal. */
  readonly stopped: Promise<unknown>;
}

/** Wires database, ports and roles, and returns when the product shall end; `resources` closes all in reverse. */
export async function runRoles(begun: Begun, resources: AsyncDisposableStack): Promise<void> {
  const { config, log, metrics, dataDir, secret, place, print } = begun;
  const { roles } = config;
  const { port } = place;
  await requireBackupFolder(config);
  const appUrl = config.appUrl ?? `http://localhost:${port}`;
  const local = operatorPages({
    key: operatorKey(dataDir, secret, { alone: config.database.kind === "embedded" }),
    appUrl,
  });
  const { installation, db, pool, listen, changes } = await openStore(begun, resources);

  const announce = announcer({ appUrl, brandName: config.brand.name });
  const address = { port, place, appUrl };
  const common = { ...address, config, log, metrics, dataDir, secret, installation, db, changes, announce, local };
  const gateway = await openGateway({ ...common, listen });
  if (gateway) resources.defer(gateway.close);
  const rental = rents(config) ? await openRental(common, resources) : undefined;
  // Before the app, which says whether it listens.
  const ssh = await serveSsh({ config, gateway, log });
  if (rental && roles.has("api"))
    resources.defer(await serveApp({ ...common, ...rental, gateway, isSshServed: ssh.isServed }));
  else if (gateway) resources.defer(await serveEnvironments({ ...common, gateway }));
  resources.defer(ssh.stop);
  const settings = { ...settingsOf(config), port, appUrl, digests: digestSettings(config.compared, secret) };
  resources.defer((await startPresence({ db, roles, settings, log })).stop);
  // Stopped before the app, where loops call the embedded provider, and concurrently, because each may wait for a host or relay.
  const loops = rental && roles.has("worker") ? await workerLoops({ ...common, ...rental }) : [];
  resources.defer(allLoops([...loops, startDiskWatch(dataDir, log)]).stop);
  const consoleLines = await serveConsole(common, resources);
  const health = await serveMetrics({ ...common, pool, gateway, rental });
  if (health) resources.defer(health.close);
  for (const text of settingWarnings(config)) log.warn({ event: "setting.warning" }, text);
  for (const line of [...pageLines(config, local), ...consoleLines]) print(line);
  if (health) print(`Health checks are at ${health.url}/healthz and ${health.url}/readyz, metrics at /metrics`);
  print(isServer(config) ? `${config.brand.name} is ready at ${appUrl}` : `${config.brand.name}'s worker is ready`);
  await notifyReady(begun.environment).catch(logError(log, "process.notify_failed"));
  await firstOf(begun.stopped, rental);
}

async function requireBackupFolder(config: Config): Promise<void> {
  if (!config.backup || !config.roles.has("worker")) return;
  const { checkBackupFolder } = await import("../operator/backup/start-backups.ts");
  await checkBackupFolder(config, config.backup);
}

async function openGateway({ config, ...deps }: Common & Pick<Database, "listen">): Promise<Gateway | undefined> {
  if (!config.roles.has("gateway")) return undefined;
  const { createGateway } = await import("../gateway/gateway.ts");
  return await createGateway({ ...deps, envHost: config.envHost, trustProxy: trustedProxies(config.trustProxy) });
}

/** A signal; or an error, when workers of another machine took over. */
async function firstOf(stopped: Promise<unknown>, rental: Rental | undefined): Promise<void> {
  await Promise.race([stopped, ...(rental?.membership ? [rental.membership.lost] : [])]);
}

function rents({ roles }: Config): boolean {
  return roles.has("api") || roles.has("worker");
}

async function openStore({ config, secret, log, ...begun }: Begun, resources: AsyncDisposableStack) {
  const connection = await begun.connection;
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

interface Common extends Pick<Begun, "config" | "log" | "metrics" | "dataDir" | "secret" | "place"> {
  readonly port: number;
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
  deps: Common & Rental & { readonly gateway: Gateway | undefined; readonly isSshServed: boolean | undefined },
): Promise<() => Promise<void>> {
  const { config, appUrl, db, secret, announce, installation, dataDir } = deps;
  const app = await buildApp({
    ...deps,
    ...deps.money,
    hosts: createHostNames({ appUrl, envHost: config.envHost }),
    jumpHost: jumpHostOf(deps),
    identity: await openIdentity({ db, secret, appUrl, announce, config }),
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

/** WebSockets and SSH end with the gateway: notebooks connect again by themselves. */
function runningRequests(gateway: Gateway | undefined): number {
  return gateway ? gateway.openSockets - gateway.counts.openWebSockets - gateway.counts.openSsh : 0;
}

async function workerLoops(deps: Common & Rental): Promise<Loop[]> {
  const { config, log, db, changes, drivers, announce, money, remote, remotes } = deps;
  const deliver = delivery({ announce });
  return [
    ...(await optionalLoops(deps)),
    ...(await environmentLoops(config, remotes, deps.clusters, {
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
    })),
    ...paymentLoops(money, log),
    startAnnouncingChanges({ db, changes, announce, log }),
    startPurging(db, log),
    startAnnouncing({ db, announce, log }),
  ];
}

/** Loaded by a worker only, most of them only where the settings ask for them. */
async function optionalLoops({ config, log, metrics, db, changes, dataDir, secret, ...deps }: Common): Promise<Loop[]> {
  const { runtime, mail, backup, brand, firebase } = config;
  const { auditWitness } = await import("../audit/audit-witness.ts");
  const { startAuditWatch } = await import("../operator/audit/start-audit-watch.ts");
  const witness = auditWitness(dataDir, secret);
  const loops: Loop[] = [startAuditWatch({ db, witness, brandName: brand.name, to: operatorAddress(config), log })];
  if (runtime === "docker") {
    const { startFirewall } = await import("../drivers/docker/firewall/start-firewall.ts");
    loops.push(startFirewall(localFirewall(config, deps.installation.id, deps.port), log));
  }
  if (mail.smtp) {
    const { startOutbox } = await import("../mail/outbox.ts");
    loops.push(startOutbox({ db, changes, smtp: mail.smtp, log, onAttempt: countMails(metrics) }));
  }
  if (firebase) {
    const { startNotifyingProvider } = await import("../identity/firebase/start-notifying-provider.ts");
    loops.push(startNotifyingProvider({ db, project: firebase, log }));
  }
  if (backup) {
    const { startBackups } = await import("../operator/backup/start-backups.ts");
    loops.push(startBackups({ db, config, schedule: backup, log }));
  }
  return loops;
}

/** Returns the line that names its address. */
async function serveConsole(deps: Common, resources: AsyncDisposableStack): Promise<string[]> {
  if (!deps.config.console) return [];
  const { startConsole } = await import("../operator/console/start-console.ts");
  const started = await startConsole({ ...deps, dist: consoleDist });
  if (!started) return [];
  resources.defer(started.close);
  return [`The operator's console is at ${started.url}`];
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
