import { once } from "node:events";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { buildApp } from "./app.ts";
import { type Config, ConfigError, readConfig } from "./config.ts";
import { openChanges } from "./database/changes.ts";
import { type Connection, type Db, isLostConnection, openDatabase } from "./database/database.ts";
import { EmbeddedDatabaseError, startEmbedded } from "./database/embedded.ts";
import { dockerDriver } from "./drivers/docker.ts";
import { checkEngine } from "./drivers/docker-check.ts";
import type { Remote, RemoteParts } from "./drivers/docker-remote.ts";
import { type Driver, DriverError } from "./drivers/driver.ts";
import { fakeDriver } from "./drivers/fake.ts";
import { findQuota } from "./drivers/find-quota.ts";
import { imageOf, replacedImages } from "./drivers/image-catalogue.ts";
import { processDriver } from "./drivers/process.ts";
import { findPython } from "./drivers/python.ts";
import { readRuntime } from "./drivers/runtimes.ts";
import { startWall, type WallParts } from "./drivers/wall-watch.ts";
import { startGpuWatch } from "./environments/gpu-watch.ts";
import { registerHost, thisMachine } from "./environments/hosts.ts";
import { startPreparing } from "./environments/images.ts";
import { lostDriver, lostHosts } from "./environments/lost-hosts.ts";
import { purgeQueue } from "./environments/queue.ts";
import { startQueue } from "./environments/queue-loop.ts";
import { type ReconcilerParts, startReconciler } from "./environments/reconciler.ts";
import { openRemoteHosts, startRemoteHosts } from "./environments/remote-hosts.ts";
import { startSampling } from "./environments/sampler.ts";
import { purgeSamples } from "./environments/samples.ts";
import { startWarmPool } from "./environments/warm-pool.ts";
import { answers } from "./gateway/answers.ts";
import { createGateway } from "./gateway/gateway.ts";
import { purgeSignIns } from "./gateway/grants.ts";
import { localIdentity } from "./identity/local.ts";
import { purgeIdentity } from "./identity/purge-identity.ts";
import { installationOf, installationSecret } from "./installation.ts";
import { allLoops, type Loop, startLoop } from "./loop.ts";
import { purgeMails, startOutbox } from "./mail/outbox.ts";
import { announcer } from "./notifications/announcer.ts";
import { purgeNotifications } from "./notifications/notifications.ts";
import { checkKeys } from "./payments/check-keys.ts";
import { delivery } from "./payments/delivery.ts";
import { embeddedGateway, embeddedGatewayPath } from "./payments/embedded-gateway/embedded-gateway.ts";
import { startEvents } from "./payments/events.ts";
import type { Payments } from "./payments/payments.ts";
import { razorpay } from "./payments/razorpay.ts";
import { startRefunds } from "./payments/refunds.ts";
import { startSweep } from "./payments/sweep.ts";
import { startWatch } from "./payments/watch.ts";
import { startDisputes } from "./payments/watch-disputes.ts";

const purgeMs = 3_600_000;
const dist = fileURLToPath(new URL("../../web/dist", import.meta.url));

process.on("unhandledRejection", (error) => console.error(error));

try {
  await start(readConfig(process.env));
  process.exit(0);
} catch (error) {
  console.error(isForPeople(error) ? error.message : error);
  process.exit(1);
}

/** Composes the product: settings, database, ports, then the roles. A signal, or a failed start, takes it apart in reverse. */
async function start(config: Config): Promise<void> {
  await using parts = new AsyncDisposableStack();
  // Heard from the first moment: a start that is interrupted would leave its database running.
  const stopped = Promise.race([once(process, "SIGTERM"), once(process, "SIGINT")]);
  const dataDir = resolve(config.dataDir);
  const port = await portOf(config);
  const appUrl = config.appUrl ?? `http://localhost:${port}`;
  const secret = installationSecret(dataDir, config.secret);

  const connection = await connectionOf(config, dataDir, parts);
  const database = await openDatabase(connection, failed).catch((error) => {
    const outside = config.database.kind === "external" && isLostConnection(error);
    throw outside ? new ConfigError(`The database of DATABASE_URL cannot be reached: ${error.message}`) : error;
  });
  parts.defer(database.close);
  const { db } = database;
  const changes = await openChanges(database);
  const installation = await installationOf(db);
  const local = await driverOf(config, dataDir, installation.id);
  await registerHost(db, thisMachine, local, config.slots);
  const remote = remoteParts(config, dataDir, installation.id);
  const remotes = await openRemoteHosts(db, remote);
  for (const { close } of remotes) parts.defer(close);
  const drivers = await driversOf(db, local, remotes);

  const announce = announcer({ appUrl, brandName: config.brand.name });
  const money = await moneyOf(config, port, { db, changes, announce, failed });
  const gateway = await createGateway({ db, changes, appUrl, envHost: config.envHost, secret, failed });
  parts.defer(gateway.close);
  const app = await buildApp({
    config,
    appUrl,
    db,
    changes,
    identity: localIdentity({ db, secret, appUrl, limits: config.limits, announce }),
    ...money,
    gateway,
    drivers,
    betaEndsAt: betaEnd(config.betaStartsAt ?? installation.startedAt),
    dist,
  });
  if (config.roles.has("api") || config.roles.has("gateway")) await app.listen({ port, host: config.host });

  const deliver = delivery({ announce });
  const loops = config.roles.has("worker")
    ? [
        ...(config.runtime === "docker" ? [startWall(wallOf(config, installation.id, port), failed)] : []),
        ...environmentLoops(config, remotes, {
          ...remote,
          ...{ db, changes, drivers, delivery: deliver, announce, answers, failed },
        }),
        ...moneyLoops(money, port),
        ...(config.mail.smtp ? [startOutbox({ db, changes, smtp: config.mail.smtp, failed })] : []),
        startPurging(db),
      ]
    : [];
  parts.defer(() => app.close());
  // Before it, since some ask the embedded gateway there; and all at once, since each may have a host or a mail server to wait for.
  parts.defer(allLoops(loops).stop);
  if (!config.mail.smtp && !config.mail.outboxPage) console.warn("SMTP_URL is not set: no mail is sent.");
  console.log(`${config.brand.name} is ready at ${appUrl}`);
  await stopped;
}

function environmentLoops(
  { retentionDays, warmPool: sizes, slots, docker: { needsLiveRestore } }: Config,
  remotes: readonly Remote[],
  parts: Omit<ReconcilerParts, "retentionDays" | "checks"> & RemoteParts,
): Loop[] {
  const { loops, checks } = startRemoteHosts(remotes, { ...parts, slots, needsLiveRestore });
  return [
    ...loops,
    startPreparing(parts),
    startReconciler({ ...parts, checks, retentionDays }),
    startSampling(parts),
    startGpuWatch(parts),
    startQueue(parts),
    startWarmPool({ ...parts, sizes }),
  ];
}

/** Nothing grows for ever: each part deletes what it can no longer use. One that fails does not keep the others. */
function startPurging(db: Db): Loop {
  const purges = [purgeIdentity, purgeMails, purgeNotifications, purgeQueue, purgeSamples, purgeSignIns];
  return startLoop(
    async () => {
      for (const purge of purges) await purge(db).catch(failed);
      return purgeMs;
    },
    purgeMs,
    failed,
  );
}

function failed(error: unknown): void {
  console.error(error);
}

async function connectionOf(config: Config, dataDir: string, parts: AsyncDisposableStack): Promise<Connection> {
  if (config.database.kind === "external") return { connectionString: config.database.url };
  const embedded = await startEmbedded({ directory: join(dataDir, "database"), failed });
  parts.defer(embedded.stop);
  return embedded.connection;
}

function isForPeople(error: unknown): error is Error {
  if (error instanceof Error && "code" in error && error.code === "EADDRINUSE") {
    error.message = `Port ${"port" in error ? error.port : ""} is taken by another program. Stop it, or set PORT to another port.`;
    return true;
  }
  return [ConfigError, EmbeddedDatabaseError, DriverError].some((kind) => error instanceof kind);
}

/** Found taken before anything is started; port 0 becomes a free one, because addresses name it. */
async function portOf({ port, host }: Config): Promise<number> {
  const probe = createServer().listen(port, host);
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address ? address.port : port;
}

/** By host; of a machine that is lost nothing is asked. */
async function driversOf(db: Db, local: Driver, remotes: readonly Remote[]): Promise<ReadonlyMap<string, Driver>> {
  return new Map([
    [thisMachine, local],
    ...remotes.map(({ host, driver }) => [host.id, driver] as const),
    ...(await lostHosts(db)).map((id) => [id, lostDriver(id)] as const),
  ]);
}

async function driverOf(config: Config, directory: string, install: string): Promise<Driver> {
  if (config.runtime === "fake") return fakeDriver(config.fake);
  if (config.runtime === "docker") return await dockerOf(config, directory, install);
  const runtimes = resolve(config.runtimesDir ?? join(directory, "runtimes"));
  // Without a Python nothing could ever be delivered: said at the start, not at the first launch.
  if (!(await readRuntime(runtimes, "jupyter"))) await findPython();
  return processDriver({ directory, install, network: config.processNetwork, runtimes, failed });
}

async function dockerOf({ docker }: Config, directory: string, install: string): Promise<Driver> {
  for (const words of await checkEngine(docker, docker)) console.warn(`WARNING: ${words}.`);
  if (!(await imageOf("jupyter")))
    console.warn("WARNING: no image is built yet, so nothing can be launched: npm run images.");
  const homeRoot = join(directory, "homes");
  const found = await findQuota(homeRoot);
  if ("missing" in found) console.warn(`WARNING: an environment can fill the whole disk: ${found.missing}.`);
  const quota = "missing" in found ? undefined : found;
  const publishAt = docker.reach === "published" ? "127.0.0.1" : undefined;
  return await dockerDriver({
    engine: docker,
    install,
    homeRoot,
    quota,
    images: imageOf,
    replaced: replacedImages,
    publishAt,
    failed,
  });
}

/** What stays the same for every host on another machine. */
function remoteParts({ sshAgent }: Config, directory: string, install: string): RemoteParts {
  return { install, images: imageOf, replaced: replacedImages, folder: join(directory, "hosts"), sshAgent, failed };
}

function wallOf({ docker }: Config, install: string, port: number): WallParts {
  return { engine: docker, install, image: () => imageOf("jupyter"), isHost: docker.reach === "published", port };
}

async function moneyOf(config: Config, port: number, parts: Pick<Payments, "db" | "changes" | "announce" | "failed">) {
  const { payments: keys, caps, brand, giveUpAfterSeconds, seller } = config;
  const common = { ...parts, caps, brandName: brand.name, giveUpAfterSeconds, seller };
  if (keys.kind === "razorpay") {
    const minimumMinor = { USD: 50, INR: 100 };
    const provider = razorpay({ ...keys, baseUrl: "https://api.razorpay.com/v1", minimumMinor });
    await checkKeys(provider, failed);
    return { payments: { ...common, provider, webhookSecrets: keys.webhookSecrets }, embeddedGateway: undefined };
  }
  const own = await embeddedGateway({ db: parts.db });
  const baseUrl = `http://127.0.0.1:${port}${embeddedGatewayPath}`;
  const provider = razorpay({ ...own, baseUrl, kind: "embedded", mode: "embedded", minimumMinor: { USD: 1, INR: 1 } });
  return { payments: { ...common, provider, webhookSecrets: [own.webhookSecret] }, embeddedGateway: own };
}

function moneyLoops({ payments, embeddedGateway: own }: Awaited<ReturnType<typeof moneyOf>>, port: number): Loop[] {
  return [
    startWatch(payments),
    startRefunds(payments),
    startEvents(payments),
    startSweep(payments),
    startDisputes(payments),
    ...(own ? [own.startWebhooks(`http://127.0.0.1:${port}/webhooks/razorpay`, failed)] : []),
  ];
}

/** The beta lasts one calendar month (spec section 9, G34). */
function betaEnd(startedAt: Date): Date {
  const end = new Date(startedAt);
  end.setUTCMonth(end.getUTCMonth() + 1);
  return end;
}
