import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, inject, onTestFinished, test } from "vitest";
import { silentLogger } from "../logging/create-logger.ts";
import { recordLog } from "../logging/testing/record-log.ts";
import { isLostConnection } from "./connection.ts";
import { isUniqueViolation, openDatabase, SchemaError } from "./database.ts";
import { newId } from "./new-id.ts";
import { testDatabase } from "./testing.ts";

test("a migrated database sends notifications of row changes", async () => {
  await using database = await testDatabase();
  const received: string[] = [];
  await database.listen("changes", (payload) => received.push(payload));
  const id = newId();
  const row = { id, user_id: "u", cause: "welcome", title: "t", body: "b" };
  await database.db.insertInto("notifications").values(row).execute();
  await expect
    .poll(() => received.map((payload) => JSON.parse(payload)))
    .toEqual([{ kind: "notification", id, user: "u" }]);
  const again = await database.db
    .insertInto("notifications")
    .values({ ...row, id: newId() })
    .execute()
    .catch((error: unknown) => error);
  expect(isUniqueViolation(again, "notifications_user_id_cause_key")).toBe(true);
});

test("a program beside the server does not migrate, and fails with another schema version", async () => {
  await using database = await testDatabase();
  const name = `bare_${newId()}`;
  await sql.raw(`create database ${name}`).execute(database.db);
  const connection = { ...inject("cluster"), database: name };
  await expect(openDatabase(connection, silentLogger, { keep: true })).rejects.toThrow(SchemaError);
  const migrated = await openDatabase(connection, silentLogger);
  await migrated.close();
  const beside = await openDatabase(connection, silentLogger, { keep: true });
  await sql`delete from migrations where name = (select max(name) from migrations)`.execute(beside.db);
  await beside.close();
  await expect(openDatabase(connection, silentLogger, { keep: true })).rejects.toThrow(
    "start the server of this version",
  );
});

test("a database of a newer version is refused by the server and by a program beside it (G115)", async () => {
  await using database = await testDatabase();
  await sql`insert into migrations (name) values ('9999_future.sql')`.execute(database.db);
  const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(database.db);
  const connection = { ...inject("cluster"), database: rows[0]?.name ?? "" };
  const message =
    "The database was migrated by a newer version (9999_future.sql): use that version or a later one, or restore an older backup.";
  for (const keep of [false, true])
    await expect(openDatabase(connection, silentLogger, { keep })).rejects.toThrow(new SchemaError(message));
});

test("PostgreSQL before 18 is refused before anything is written (G115)", async () => {
  // The real server with another version number of the same length.
  const host = await relayed((bytes) => bytes.toString("latin1").replace(/18\d{4}/, "150020"));
  const bare = `bare_${newId()}`;
  await using database = await testDatabase();
  await sql.raw(`create database ${bare}`).execute(database.db);
  await expect(openDatabase({ ...inject("cluster"), host, database: bare }, silentLogger)).rejects.toThrow(
    new SchemaError("The database is PostgreSQL 15.20, and version 18 or newer is needed."),
  );
});

test("an impostor of the embedded database does not get the password", async () => {
  const received: Buffer[] = [];
  const folder = await listening((socket) => {
    socket.on("data", (bytes) => received.push(bytes));
    // AuthenticationCleartextPassword.
    socket.once("data", () => socket.write(Buffer.from("520000000800000003", "hex")));
  });
  const password = "the password itself";
  const connection = { host: folder, user: "berth", password, database: "postgres", scramOnly: true } as const;
  await expect(openDatabase(connection, silentLogger)).rejects.toThrow("This server is not the embedded database");
  expect(Buffer.concat(received).toString("latin1")).not.toContain(password);
});

test("big integers arrive as numbers", async () => {
  await using database = await testDatabase();
  const { rows } = await sql<{ n: number }>`select 5000000000::bigint as n`.execute(database.db);
  expect(rows[0]?.n).toBe(5_000_000_000);
});

test("ids are 25 characters of 0-9 and a-z, random from the first", () => {
  const ids = Array.from({ length: 2000 }, newId);
  for (const id of ids) expect(id).toMatch(/^[0-9a-z]{25}$/);
  expect(new Set(ids.map((id) => id[0])).size).toBe(36);
});

test("during an outage the listener reconnects one at a time, and listens once after it", async () => {
  const { openSockets, name, cut } = await relay();
  const { log, errors: failures } = recordLog();
  const database = await openDatabase({ ...inject("cluster"), host: name }, log);
  onTestFinished(database.close);
  let resets = 0;
  await database.listen(
    "changes",
    () => {},
    () => void resets++,
  );
  const cutAt = performance.now();
  const connects = cut();
  await expect.poll(() => failures.length, { timeout: 15_000 }).toBeGreaterThan(5);
  expect(connects(), "twice a second").toBeLessThanOrEqual((performance.now() - cutAt) / 500);
  expect(resets).toBe(1);
  cut(false);
  await expect.poll(() => resets, { timeout: 15_000 }).toBe(2);
  expect(openSockets()).toBeLessThan(3);
});

/** A server on a database socket in a folder of its own; returns the folder. */
async function listening(accept: (socket: Socket) => void): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "relay-"));
  const server = createServer((socket) => accept(socket.on("error", () => {}))).listen(join(folder, ".s.PGSQL.5432"));
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A proxy to the cluster that changes its responses. */
function relayed(change: (bytes: Buffer) => string): Promise<string> {
  return listening((socket) => {
    const upstream = connect(join(inject("cluster").host ?? "", ".s.PGSQL.5432"));
    upstream.on("data", (bytes) => socket.write(change(bytes), "latin1"));
    upstream.on("close", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
    socket.pipe(upstream);
  });
}

/** A proxy to the cluster that can be cut and restored. */
async function relay() {
  const name = await mkdtemp(join(tmpdir(), "relay-"));
  const { host = "" } = inject("cluster");
  const sockets = new Set<Socket>();
  let isCut = false;
  let connects = 0;
  const server = createServer((socket) => {
    connects++;
    if (isCut) return void socket.destroy();
    const upstream = connect(join(host, ".s.PGSQL.5432"));
    sockets.add(socket);
    for (const [one, other] of [
      [socket, upstream],
      [upstream, socket],
    ] as const)
      one
        .on("error", () => {})
        .on("close", () => {
          sockets.delete(one);
          other.destroy();
        });
    socket.pipe(upstream).pipe(socket);
  }).listen(join(name, ".s.PGSQL.5432"));
  onTestFinished(async () => {
    server.close();
    await rm(name, { recursive: true, force: true });
  });
  return {
    name,
    openSockets: () => sockets.size,
    cut(cutNow = true) {
      isCut = cutNow;
      connects = 0;
      for (const socket of sockets) socket.destroy();
      return () => connects;
    },
  };
}

test("a connection that ends between two queries fails its transaction, not the process", async () => {
  await using database = await testDatabase({ log: silentLogger });
  const { db } = database;
  const cut = db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
    const pid = rows[0]?.pid;
    await sql`select pg_terminate_backend(${pid})`.execute(db);
    const alive = async () =>
      (await sql`select 1 from pg_stat_activity where pid = ${pid}`.execute(db)).rows.length > 0;
    await expect.poll(alive).toBe(false);
    await sql`select 1`.execute(tx);
  });
  await expect(cut).rejects.toThrow();
  expect((await sql`select 1`.execute(db)).rows).toHaveLength(1);
});

test("an error of a client's connection is no lost database connection, whatever its code", async () => {
  await using database = await testDatabase();
  const aborted = Object.assign(new Error("aborted"), { code: "ECONNRESET" });
  const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" });
  expect([aborted, refused].map(isLostConnection)).toEqual([false, false]);
  // Errors of the database's own connections, for comparison.
  const ended = await sql`select pg_terminate_backend(pg_backend_pid())`.execute(database.db).catch((error) => error);
  expect(isLostConnection(ended)).toBe(true);
  const nobody = await openDatabase({ host: "/nowhere", user: "nobody" }, silentLogger).catch((error) => error);
  expect(isLostConnection(nobody)).toBe(true);
});
