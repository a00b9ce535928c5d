import { createServer } from "node:http";
import { expect, test } from "vitest";
import { createShareLink } from "../environments/api/share-links.ts";
import { recordLog } from "../logging/testing/record-log.ts";
import { openUpstream, poll, setupGateway } from "./testing/setup-gateway.ts";

const html = { accept: "text/html,application/xhtml+xml" };
const handshake = (host: string, cookie: string) =>
  `GET /ws HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nCookie: ${cookie}\r\nOrigin: http://${host}\r\n\r\n`;

/** Loses every notification. */
const lossyChanges = { subscribe: () => () => {}, subscribeUser: () => () => {} };

/** An environment at one gateway; `beside` adds another on the same database. */
async function twoGateways() {
  const environment = createServer((_request, response) => void response.end("notebook"));
  environment.on("upgrade", (_request, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  });
  const { port } = await openUpstream(environment);
  const given = await setupGateway();
  const row = await given.environment({ port });
  const host = given.hostOf(row);
  await poll(() => given.ask(host, "/").then(({ status }) => status === 401));
  return { ...given, row, host };
}

test("a sign-in at one gateway is valid at the other at once, for pages, calls and WebSockets", async () => {
  const { beside, signedIn, row, host } = await twoGateways();
  const second = await beside();
  await poll(() => second.ask(host, "/").then(({ status }) => status === 401));
  const met: unknown[] = [];
  for (let n = 0; n < 100; n++) {
    const cookie = await signedIn(row);
    const socket = second.open(handshake(host, cookie));
    const [page, call] = await Promise.all([
      second.ask(host, "/lab", { headers: { cookie, ...html } }),
      second.ask(host, "/api", { method: "POST", body: "x", headers: { cookie, origin: `http://${host}` } }),
    ]);
    await expect.poll(socket.received, { interval: 5 }).toMatch(/^HTTP\/1\.1 \d{3}/);
    socket.socket.destroy();
    met.push([page.status, call.status, Number(socket.received().slice(9, 12))]);
  }
  expect(met).toEqual(Array.from({ length: 100 }, () => [200, 200, 101]));
});

test("a gateway without notifications reads the grant of a genuine cookie, and of no other", async () => {
  const { beside, signedIn, ask, db, row, host } = await twoGateways();
  const isolated = await beside({ changes: lossyChanges });
  const status = (cookie: string) => isolated.ask(host, "/lab", { headers: { cookie } }).then((reply) => reply.status);
  const owner = await signedIn(row);
  const { secret } = await createShareLink(db, { id: row.id, userId: row.userId }, "1h");
  const entered = await ask(host, "/_berth/share", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", origin: `http://${host}` },
    body: `key=${secret}`,
  });
  const guest = String(entered.headers["set-cookie"]?.[0]?.split(";")[0]);
  expect([await status(owner), await status(guest)]).toEqual([200, 200]);
  const revoked = await signedIn(row);
  const id = revoked.slice("env=".length).split(".")[0] as string;
  await db.updateTable("grants").set({ revoked_at: new Date() }).where("id", "=", id).execute();
  expect([await status(revoked), await status(`${revoked}x`), await status("env=a.9999999999.b")]).toEqual([
    401, 401, 401,
  ]);
});

test("during a database outage an unknown grant is refused, and its reads are rate-limited", async () => {
  const { beside, signedIn, database, row, host } = await twoGateways();
  const { log, errors: failures } = recordLog();
  const isolated = await beside({
    changes: lossyChanges,
    log,
  });
  const cookie = await signedIn(row);
  await database.db.destroy();
  for (let n = 0; n < 20; n++) expect((await isolated.ask(host, "/lab", { headers: { cookie } })).status).toBe(401);
  expect(failures.length).toBeLessThan(10);
});

test("a limit of connections holds over two gateways, and a closed one is free at both (G178)", async () => {
  const environment = createServer();
  environment.on("upgrade", (_request, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  });
  environment.on("request", (_request, response) => void response.end("notebook"));
  const { port } = await openUpstream(environment);
  const first = await setupGateway({ limits: { perEnvironment: 20 } });
  const second = await first.beside();
  const row = await first.environment({ port });
  const host = first.hostOf(row);
  const headers = { cookie: await first.signedIn(row) };
  const status = (at: Pick<typeof first, "ask">) => at.ask(host, "/api", { headers }).then((reply) => reply.status);
  const fill = async (at: Pick<typeof first, "open">, count: number) => {
    const sockets = Array.from({ length: count }, () => at.open(handshake(host, headers.cookie)));
    for (const { received } of sockets) await expect.poll(received, { timeout: 20_000 }).toMatch(/^HTTP\/1\.1 101/);
    return sockets;
  };
  const soon = { timeout: 20_000 };
  await expect.poll(() => status(second), soon).toBe(200);
  const [some] = [await fill(first, 14), await fill(second, 6)];
  await expect.poll(() => status(second), soon).toBe(503);
  await expect.poll(() => status(first), soon).toBe(503);
  some[0]?.socket.destroy();
  await expect.poll(() => status(second), soon).toBe(200);
});
