import { createServer } from "node:http";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { strictLog } from "../../logging/testing/record-log.ts";
import { openUpstream, setupGateway } from "../testing/setup-gateway.ts";
import { createActivityTracker } from "./activity-tracker.ts";

const handshake = (host: string, cookie: string, path = "/terminals/websocket/1") =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCookie: ${cookie}\r\nOrigin: http://${host}\r\n\r\n`;

/** Echoes WebSockets, and returns two megabytes for `/big`. */
function echo() {
  const upstream = createServer((request, response) => {
    request.resume();
    response.end(request.url === "/big" ? "x".repeat(2_000_000) : "[]");
  });
  upstream.on("upgrade", (_, socket) => {
    socket.on("error", () => {});
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
    );
    socket.pipe(socket);
  });
  return upstream;
}

/** An environment that was last busy an hour ago. */
async function setupUses() {
  const { port } = await openUpstream(echo());
  const given = await setupGateway({ activityMs: 20 });
  const { db } = given;
  const row = await given.environment({ port });
  const cookie = await given.signedIn(row);
  const host = given.hostOf(row);
  await db.insertInto("activity").values({ environment_id: row.id }).execute();
  const rest = () => sql`update activity set last_busy_at = now() - interval '1 hour'`.execute(db);
  const isUsed = async () =>
    (await sql`select 1 from activity where last_busy_at > now() - interval '1 minute'`.execute(db)).rows.length === 1;
  const ask = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    given.ask(host, path, { method, headers: { cookie, ...headers } });
  /** Resolves after a full pass of the loop, which wrote a use of another environment. */
  const written = async () => {
    const other = await given.environment({ port });
    await db
      .insertInto("activity")
      .values({ environment_id: other.id, last_busy_at: new Date(0) })
      .execute();
    const headers = { authorization: `token ${other.secret}` };
    await expect.poll(() => given.ask(given.hostOf(other), "/", { headers }).then(({ status }) => status)).toBe(200);
    const used = sql`select 1 from activity where environment_id = ${other.id} and last_busy_at > now() - interval '1 minute'`;
    await expect.poll(async () => (await used.execute(db)).rows.length).toBe(1);
    await sql`delete from activity where environment_id = ${other.id}`.execute(db);
  };
  await written();
  return { ...given, row, host, cookie, rest, isUsed, ask, written };
}

test("polling by an open page is no activity; actions of a person or script are", async () => {
  const { ask, rest, isUsed, written, row, host, cookie, open } = await setupUses();
  await rest();
  for (const path of ["/api/kernels", "/api/terminals", "/api/contents?content=1", "/lab/api/settings", "/static/a.js"])
    expect((await ask(path, { accept: "*/*", "sec-fetch-mode": "cors" })).status).toBe(200);
  expect((await ask("/lab/api/workspaces/default?1795285966336", {}, "PUT")).status).toBe(200);
  const socket = open(handshake(host, cookie));
  await expect.poll(socket.received).toMatch(/^HTTP\/1\.1 101 /);
  socket.socket.write("ping or pong");
  await expect.poll(socket.received).toMatch(/ping or pong$/);
  // JupyterLab reports every poll of a folder as an event.
  const events = open(handshake(host, cookie, "/api/events/subscribe"));
  await expect.poll(events.received).toMatch(/^HTTP\/1\.1 101 /);
  events.socket.write(`{"action":"get","path":"${"x".repeat(200)}"}`);
  await expect.poll(events.received).toMatch(/x"\}$/);
  await written();
  expect(await isUsed()).toBe(false);

  const uses: Readonly<Record<string, () => unknown>> = {
    "a page is opened": () => ask("/lab", { accept: "text/html", "sec-fetch-mode": "navigate" }),
    "a file is saved": () => ask("/api/contents/a.ipynb", {}, "PUT"),
    "a kernel is started": () => ask("/api/sessions", {}, "POST"),
    "a script asks with the token": () => ask("/api/kernels", { cookie: "", authorization: `token ${row.secret}` }),
    "something large is fetched": () => ask("/big"),
    "a message is sent over a WebSocket": () => socket.socket.write("x".repeat(200)),
  };
  for (const [name, use] of Object.entries(uses)) {
    await rest();
    await use();
    await expect.poll(isUsed, { message: name }).toBe(true);
  }
});

test("a stop ends exchanges, then writes activity, and waits at most two seconds for the database", async () => {
  for (const isBlocked of [false, true]) {
    const { db, gateway, environment, hostOf, open, signedIn } = await setupGateway({ activityMs: 3_600_000 });
    const { port } = await openUpstream(echo());
    const row = await environment({ port });
    await db
      .insertInto("activity")
      .values({ environment_id: row.id, last_busy_at: new Date(0) })
      .execute();
    const socket = open(handshake(hostOf(row), await signedIn(row)));
    await expect.poll(socket.received).toMatch(/^HTTP\/1\.1 101 /);
    socket.socket.write("x".repeat(200));
    await expect.poll(socket.received).toMatch(/x{200}$/);
    const done: string[] = [];
    await db.transaction().execute(async (tx) => {
      if (isBlocked) await sql`select 1 from activity for update`.execute(tx);
      void socket.closed.then(() => done.push("ended"));
      await gateway.close();
      done.push("stopped");
    });
    if (isBlocked) expect(done).toEqual(["ended", "stopped"]);
    const used = sql`select from activity where last_busy_at > now() - interval '1 minute'`;
    await expect.poll(async () => (await used.execute(db)).rows.length).toBe(1);
  }
});

test("activity during a database outage is written after it", async () => {
  const { ask, rest, isUsed, db, failures } = await setupUses();
  await rest();
  await sql`alter table activity rename to renamed`.execute(db);
  await ask("/api/contents/a.ipynb", {}, "PUT");
  await expect.poll(() => failures.length).toBeGreaterThan(0);
  await sql`alter table renamed rename to activity`.execute(db);
  await expect.poll(isUsed).toBe(true);
});

test("G405 keep-alives of an SSH client are no activity; what it sends otherwise is", async () => {
  const { db, row, rest, isUsed } = await setupUses();
  await rest();
  const quiet = createActivityTracker(db, 60_000, strictLog());
  const count = quiet.countClient(row.id);
  // One a second, for as long as it is counted together.
  for (let second = 0; second < 15; second++) count(100);
  await quiet.stop();
  expect(await isUsed()).toBe(false);
  const busy = createActivityTracker(db, 60_000, strictLog());
  busy.countClient(row.id)(4096);
  await busy.stop();
  expect(await isUsed()).toBe(true);
});
