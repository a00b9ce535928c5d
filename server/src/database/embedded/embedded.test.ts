import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../logging/create-logger.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import type { Connection } from "../connection.ts";
import { EmbeddedDatabaseError } from "../embedded-database-error.ts";
import { memoryFolder } from "../testing/memory-folder.ts";
import { embeddedConnection, startEmbedded } from "./embedded.ts";
import { postmasterOf } from "./postmaster-of.ts";

function folder(...below: string[]): string {
  const root = memoryFolder("berth-embedded-");
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return join(root, ...below);
}

/** Stopped at the end of the test, if not before. */
async function open(directory: string) {
  const embedded = await startEmbedded({ directory, fsync: false, log: silentLogger });
  let ended: Promise<void> | undefined;
  const stop = () => (ended ??= embedded.stop());
  onTestFinished(stop);
  return { ...embedded, stop };
}

async function pidOf(connection: Connection): Promise<number> {
  const client = new Client(connection);
  await client.connect();
  const { rows } = await client.query("select pg_backend_pid() as pid");
  await client.end();
  return rows[0].pid;
}

/** Name of the socket folder outside the data folder; an older version used it for an abstract socket too. */
const nameOf = (directory: string) => `berth-${createHash("sha256").update(directory).digest("hex").slice(0, 12)}`;

test("the socket is below the private data folder; without a running database a connection is an error", async () => {
  const directory = folder("database");
  const { connection, stop } = await open(directory);
  expect(connection.host).toBe(join(directory, "sockets"));
  expect(embeddedConnection(directory)).toEqual(connection);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(await pidOf(connection)).toBeGreaterThan(0);
  await stop();
  expect(existsSync(join(directory, "sockets"))).toBe(false);
  expect(() => embeddedConnection(directory)).toThrow(
    new EmbeddedDatabaseError(
      `The database in ${directory} is not running: start the server of this data folder, then retry.`,
    ),
  );
}, 60_000);

test.runIf(process.getuid?.() === 0)(
  "if the path is too long for a socket, a temporary folder of another account is refused (root only)",
  async () => {
    const directory = folder("deep".repeat(20), "database");
    const taken = join(realpathSync(tmpdir()), nameOf(directory));
    mkdirSync(taken, { mode: 0o777 });
    onTestFinished(() => rmSync(taken, { recursive: true, force: true }));
    chownSync(taken, 12_345, 12_345);
    await expect(open(directory)).rejects.toThrow(`${taken} belongs to another account`);
    chownSync(taken, 0, 0);
    const { connection } = await open(directory);
    expect(connection.host).toBe(taken);
    expect(statSync(taken).mode & 0o777).toBe(0o700);
  },
  60_000,
);

test.runIf(process.getuid?.() === 0)(
  "G311 where the server is root, the database runs as a user of its own, outside of any user namespace, also on a cluster of a former version (root only)",
  async () => {
    const directory = folder("database");
    const uidOf = () => {
      const pid = postmasterOf(join(directory, "cluster"))?.pid ?? expect.fail("it does not run");
      expect(readFileSync(`/proc/${pid}/uid_map`, "utf8")).toBe(readFileSync("/proc/self/uid_map", "utf8"));
      return statSync(`/proc/${pid}`).uid;
    };
    const first = await open(directory);
    const uid = uidOf();
    expect([0, 65_534]).not.toContain(uid);
    await first.stop();
    execFileSync("chown", ["-R", "0:0", directory]);
    await open(directory);
    expect([uidOf(), statSync(join(directory, "cluster", "PG_VERSION")).uid]).toEqual([uid, uid]);
  },
  60_000,
);

test.runIf(process.getuid?.() === 0)(
  "the database of another account is refused, and stays that account's (root only)",
  async () => {
    const directory = folder("database");
    await (await open(directory)).stop();
    execFileSync("chown", ["-R", "12345:12345", directory]);
    await expect(open(directory)).rejects.toThrow(`${directory} belongs to the user 12345`);
    expect([directory, join(directory, "cluster", "PG_VERSION")].map((path) => statSync(path).uid)).toEqual([
      12_345, 12_345,
    ]);
  },
  60_000,
);

test.runIf(process.getuid?.() === 0)(
  "below a folder that only root may enter, the database is root's own uid in a user namespace (root only)",
  async () => {
    const directory = folder("closed", "data", "database");
    mkdirSync(join(directory, "..", ".."), { mode: 0o700 });
    const { connection } = await open(directory);
    expect(await pidOf(connection)).toBeGreaterThan(0);
    expect(statSync(join(directory, "..")).mode & 0o777 & 0o001).toBe(0);
  },
  60_000,
);

test("G311 the product's role is no superuser: it starts no program and reads no file", async () => {
  const { connection } = await open(folder("database"));
  const client = new Client(connection);
  await client.connect();
  onTestFinished(() => client.end());
  await client.query("create table mine (text text)");
  await expect(client.query("copy mine from program 'id'")).rejects.toThrow("permission denied");
  await expect(client.query("select pg_read_file('PG_VERSION')")).rejects.toThrow("permission denied");
  await expect(client.query("set role postgres")).rejects.toThrow("permission denied");
}, 60_000);

test("one server locks the folder, and an abstract socket of a notebook cannot block its start", async () => {
  const directory = folder("database");
  // Abstract sockets belong to the network namespace, which notebooks share.
  const squatter = createServer().listen({ path: `\0${nameOf(directory)}` });
  await once(squatter, "listening");
  onTestFinished(() => void squatter.close());
  const first = await open(directory);
  await expect(open(directory)).rejects.toThrow("is in use by another running server");
  await first.stop();
  expect(await pidOf((await open(directory)).connection)).toBeGreaterThan(0);
}, 60_000);

test("a stale pid file with a reused pid does not block the start", async () => {
  const directory = folder("database");
  await (await open(directory)).stop();
  const other = spawn("sleep", ["60"]);
  onTestFinished(() => void other.kill());
  writeFileSync(join(directory, "cluster", "postmaster.pid"), `${other.pid}\n${directory}/cluster\n1\n5432\n\n\n`, {
    mode: 0o600,
  });
  expect(await pidOf((await open(directory)).connection)).toBeGreaterThan(0);
  expect(other.exitCode).toBe(null);
}, 60_000);

test("a copy of a running data folder starts without ending the database that it was copied from", async () => {
  const directory = folder("database");
  const original = await open(directory);
  const copy = folder("database");
  cpSync(directory, copy, { recursive: true, filter: (source) => !source.includes(".s.PGSQL") });
  const second = await open(copy);
  expect(second.connection.host).not.toBe(original.connection.host);
  expect(await pidOf(second.connection)).toBeGreaterThan(0);
  expect(await pidOf(original.connection)).toBeGreaterThan(0);
}, 60_000);

test("a database that recovers for long is waited for, and the log says so", async () => {
  const directory = folder("database");
  await (await open(directory)).stop();
  const hold = join(directory, "..", "hold");
  const cluster = join(directory, "cluster");
  writeFileSync(hold, "");
  const restore = `while [ -e "${hold}" ]; do sleep 0.05; done; false`;
  appendFileSync(join(cluster, "postgresql.auto.conf"), `hot_standby = off\nrestore_command = '${restore}'\n`);
  writeFileSync(join(cluster, "recovery.signal"), "", { mode: 0o644 });
  const { log, lines } = recordLog();
  const starting = startEmbedded({ directory, fsync: false, slowAfterMs: 100, log });
  onTestFinished(async () => await (await starting).stop());
  await expect.poll(() => lines.map(({ event }) => event), { timeout: 60_000 }).toContain("database.embedded_starting");
  rmSync(hold);
  expect(await pidOf((await starting).connection)).toBeGreaterThan(0);
}, 120_000);

test("a database that refuses its password is ended again", async () => {
  const directory = folder("database");
  await (await open(directory)).stop();
  writeFileSync(join(directory, "password"), "another");
  const starting = startEmbedded({ directory, fsync: false, slowAfterMs: 100, log: silentLogger });
  await expect(starting).rejects.toThrow(
    new EmbeddedDatabaseError(
      `The embedded database in ${directory} does not start: error: password authentication failed for user "berth"`,
    ),
  );
  expect(postmasterOf(join(directory, "cluster"))).toBeUndefined();
}, 120_000);
