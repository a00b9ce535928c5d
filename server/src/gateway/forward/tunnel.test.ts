import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { createServer as createNetServer } from "node:net";
import type { Duplex } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { listen, openUpstream, setupGateway, track } from "../testing/setup-gateway.ts";

const handshake = (host: string, headers: string) =>
  `GET /api/kernels/1/channels HTTP/1.1\r\nHost: ${host}\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${headers}\r\n`;
const switched = /^HTTP\/1\.1 101 [\s\S]*\r\n\r\n/;

/** An environment whose WebSockets echo raw bytes; `heads` records the handshakes. */
async function echoing(
  answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSet-Cookie: env=planted\r\n\r\n",
) {
  const heads: (readonly string[])[] = [];
  const upstream = createServer();
  const ends: Duplex[] = [];
  upstream.on("upgrade", (request, socket) => {
    heads.push(request.rawHeaders);
    ends.push(socket);
    socket.on("error", () => {});
    socket.write(answer);
    socket.pipe(socket);
  });
  const { port: upstreamPort, sockets } = await openUpstream(upstream);
  const given = await setupGateway();
  const row = await given.environment({ port: upstreamPort });
  const cookie = await given.signedIn(row);
  const host = given.hostOf(row);
  const connect = () => given.open(handshake(host, `Cookie: ${cookie}\r\nOrigin: http://${host}\r\n`));
  const connected = async () => {
    const client = connect();
    await expect.poll(client.received).toMatch(switched);
    return client;
  };
  /** Polls until a change of the database has reached the gateway. */
  const answersSoon = (answer: RegExp) =>
    expect
      .poll(async () => {
        const { received, socket } = connect();
        await expect.poll(received).not.toBe("");
        socket.destroy();
        return received();
      })
      .toMatch(answer);
  const connectedSoon = async () => {
    await answersSoon(switched);
    return connected();
  };
  return { ...given, row, cookie, host, heads, sockets, upstream, ends, connected, answersSoon, connectedSoon };
}

test("bytes pass both ways, and the handshake's header fields are filtered", async () => {
  const { connected, heads, row } = await echoing();
  const client = await connected();
  expect(client.received()).toContain("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  expect(client.received()).not.toContain("planted");
  client.socket.write("ping");
  await expect.poll(client.received).toMatch(/ping$/);
  const seen = heads[0] as string[];
  const of = (name: string) => seen[seen.findIndex((each, index) => index % 2 === 0 && each === name) + 1];
  expect(of("Authorization")).toBe(`token ${row.runToken}`);
  expect([of("Connection"), of("Upgrade")]).toEqual(["Upgrade", "websocket"]);
  expect(seen).not.toContain("Cookie");
});

test("a WebSocket needs the environment's own Origin, or the token without an Origin", async () => {
  const { open, host, cookie, row, heads } = await echoing();
  const status = async (headers: string) => {
    const client = open(handshake(host, headers));
    await expect.poll(client.received).toMatch(/^HTTP\/1\.1 \d{3}/);
    client.socket.destroy();
    return Number(client.received().slice(9, 12));
  };
  const foreign = [
    `http://other.${host}`,
    `https://${host}`,
    `http://${host.split(":")[0]}`,
    `http://${host}/`,
    "null",
    "http://localhost",
  ];
  for (const origin of foreign)
    expect([origin, await status(`Cookie: ${cookie}\r\nOrigin: ${origin}\r\n`)]).toEqual([origin, 403]);
  expect(await status(`Cookie: ${cookie}\r\n`)).toBe(403);
  expect(await status(`Origin: http://${host}\r\n`)).toBe(401);
  expect(await status("Authorization: token wrong\r\n")).toBe(401);
  expect(await status(`Authorization: token ${row.secret}\r\nOrigin: http://evil.test\r\n`)).toBe(403);
  expect(heads).toEqual([]);
  expect(await status(`Authorization: token ${row.secret}\r\n`)).toBe(101);
});

test("an upstream refusal keeps its status, and an unreachable upstream is a 502", async () => {
  const { open, host, cookie, upstream, ask } = await echoing("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
  const refused = open(handshake(host, `Cookie: ${cookie}\r\nOrigin: http://${host}\r\n`));
  await refused.closed;
  expect(refused.received()).toMatch(/^HTTP\/1\.1 404 /);
  upstream.close();
  upstream.closeAllConnections();
  const gone = open(handshake(host, `Cookie: ${cookie}\r\nOrigin: http://${host}\r\n`));
  await gone.closed;
  expect(gone.received()).toMatch(/^HTTP\/1\.1 502 /);
  expect(
    (await ask("nobody.localhost", "/x", { headers: { connection: "upgrade", upgrade: "websocket" } })).status,
  ).toBe(404);
});

test("300 resets of open WebSockets leak no socket on either side", async () => {
  const { connected, gateway, sockets } = await echoing();
  for (let round = 0; round < 3; round++) {
    const clients = await Promise.all(Array.from({ length: 100 }, connected));
    expect(gateway.openSockets).toBe(100);
    for (const { socket } of clients) socket.resetAndDestroy();
    await expect.poll(() => [gateway.openSockets, sockets.size]).toEqual([0, 0]);
  }
});

test("a reset before the handshake response, and an end by the upstream, close both sides", async () => {
  const { gateway, sockets, environment, signedIn, hostOf, open, connected, ends } = await echoing();
  const silent = createNetServer((socket) => void socket.on("error", () => {}).resume());
  const waiting = track(silent);
  const row = await environment({ port: await listen(silent) });
  onTestFinished(() => {
    for (const socket of waiting) socket.destroy();
    silent.close();
  });
  const early = open(handshake(hostOf(row), `Cookie: ${await signedIn(row)}\r\nOrigin: http://${hostOf(row)}\r\n`));
  await expect.poll(() => waiting.size).toBe(1);
  early.socket.resetAndDestroy();
  await expect.poll(() => [gateway.openSockets, waiting.size]).toEqual([0, 0]);

  const client = await connected();
  ends[0]?.end("last words");
  await client.closed;
  expect(client.received()).toMatch(/last words$/);
  await expect.poll(() => [gateway.openSockets, sockets.size]).toEqual([0, 0]);
});

test("back-pressure of a slow WebSocket client reaches the upstream, and no byte is lost", async () => {
  const { connected, ends } = await echoing();
  const { socket } = await connected();
  const end = ends[0] as Duplex;
  let read = 0;
  const received = createHash("sha256");
  socket.removeAllListeners("data").on("data", (chunk) => {
    received.update(chunk);
    read += chunk.length;
  });
  socket.pause();
  const total = 32 * 1024 * 1024;
  end.unpipe();
  const sent = randomBytes(total);
  // One by one: the gateway buffers several chunks of this size before it pauses.
  const pieceBytes = 32 * 1024;
  for (let at = 0; at < total; at += pieceBytes) {
    end.write(sent.subarray(at, at + pieceBytes));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => end.writableLength).toBeGreaterThan(0);
  socket.resume();
  await expect.poll(() => read, { timeout: 10_000 }).toBe(total);
  expect(received.digest("hex")).toBe(createHash("sha256").update(sent).digest("hex"));
});

test("an open WebSocket ends within two seconds of a sign-out, a stop and an expiry, and survives a pause", async () => {
  const { answersSoon, connectedSoon, db, row, sockets, gateway } = await echoing();
  const set = (fields: object) => db.updateTable("environments").set(fields).where("id", "=", row.id).execute();
  const ended = async (client: Awaited<ReturnType<typeof connectedSoon>>, cause: () => Promise<unknown>) => {
    const from = performance.now();
    await cause();
    await client.closed;
    expect(performance.now() - from).toBeLessThan(2000);
    await expect.poll(() => [gateway.openSockets, sockets.size]).toEqual([0, 0]);
  };
  const paused = await connectedSoon();
  // The gateway must have processed each step of a pause and a resume.
  for (const [step, answer] of [
    [{ status: "paused", desired: "paused" }, /"code":"paused"/],
    [{ status: "paused", desired: "running" }, /"code":"starting"/],
    [{ status: "active", desired: "running" }, switched],
  ] as const) {
    await set(step);
    await answersSoon(answer);
  }
  await (await connectedSoon()).socket.destroy();
  paused.socket.write("still here");
  await expect.poll(paused.received).toMatch(/still here$/);
  await ended(paused, () => set({ desired: "stopped" }));
  await set({ desired: "running", expires_at: new Date(Date.now() + 1200) });
  await ended(await connectedSoon(), () => new Promise((resolve) => setTimeout(resolve, 1200)));
  await set({ expires_at: null });
  await ended(await connectedSoon(), () => db.updateTable("grants").set({ revoked_at: new Date() }).execute());
});
