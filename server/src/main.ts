import { join, resolve } from "node:path";
import { type Config, readConfig } from "./config/config.ts";
import { readSettingsFile } from "./config/settings-file.ts";
import { type Connection, isLostConnection } from "./database/connection.ts";
import { startEmbedded } from "./database/embedded/embedded.ts";
import { inheritedSocket } from "./installation/inherited-socket.ts";
import { installationSecret, openDataDir } from "./installation/installation.ts";
import { createLogger, type Logger, logError } from "./logging/create-logger.ts";
import { createMetrics, type Metrics } from "./metrics/create-metrics.ts";
import { isServer, listenPlace } from "./roles/listen-place.ts";

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
  const { failureOf } = await import("./roles/failure-of.ts");
  console.error(failureOf(error));
  process.exit(1);
}

/**
 * Checks what a start needs, and begins the database; the rest of the server is loaded while PostgreSQL starts, on another
 * core. A signal or a failed start closes everything in reverse.
 */
async function start(config: Config, log: Logger, metrics: Metrics): Promise<void> {
  await using resources = new AsyncDisposableStack();
  // First: an interrupted start would leave its database running.
  const stopped = stopSignal();
  const dataDir = resolve(config.dataDir);
  const place = isServer(config) ? await listenPlace(config, inheritedSocket(process.env)) : config;
  openDataDir(dataDir, log);
  const secret = installationSecret(dataDir, config.secret);
  const { connection } = await beginDatabase({ config, dataDir, log }, resources);
  const { runRoles } = await import("./roles/run-roles.ts");
  const outside = { environment: process.env, print: console.log, stopped };
  await runRoles({ config, log, metrics, dataDir, secret, place, connection, ...outside }, resources);
}

/**
 * Resolves at the first signal and outlives the next ones: Ctrl-C reaches this process twice, from the terminal and from
 * `npm start`, and a second one would leave the database and environments running.
 */
function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => resolve());
  return promise;
}

interface StoreDeps {
  readonly config: Config;
  readonly dataDir: string;
  readonly log: Logger;
}

/** Returns once the embedded PostgreSQL runs; `connection` settles when it accepts connections. */
async function beginDatabase(
  { config: { database }, dataDir, log }: StoreDeps,
  resources: AsyncDisposableStack,
): Promise<{ readonly connection: Promise<Connection> }> {
  if (database.kind === "external")
    return { connection: Promise.resolve({ connectionString: database.url, listenString: database.listenUrl }) };
  const { promise: spawned, resolve: onSpawn } = Promise.withResolvers<void>();
  const embedded = startEmbedded({ directory: join(dataDir, "database"), onSpawn, log });
  const isStarted = embedded.then(
    () => true,
    () => false,
  );
  resources.defer(async () => ((await isStarted) ? (await embedded).stop() : undefined));
  await Promise.race([spawned, embedded]);
  const connection = embedded.then((started) => started.connection);
  // A failure is reported where it is awaited.
  connection.catch(() => {});
  return { connection };
}
