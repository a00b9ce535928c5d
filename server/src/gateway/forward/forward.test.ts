import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { listen, poll, setupGateway, track, upstreamServer } from "../testing/setup-gateway.ts";

/** A signed-in client of a running environment that echoes requests as JSON. */
async function echoing() {
  const upstream = await upstreamServer((request, response) => {
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.rawHeaders, body }));
    });
  });
  const given = await setupGateway();
  const row = await given.environment({ port: upstream.port });
  const cookie = await given.signedIn(row);
  return { ...given, upstream, row, cookie, host: given.hostOf(row) };
}

test("a request is forwarded unchanged, except that our headers replace forged ones", async () => {
  const { ask, host, cookie, row } = await echoing();
  const reply = await ask(host, "/api/contents?a=%2F&b=ü".replace("ü", "%C3%BC"), {
    method: "POST",
    body: "hello",
    headers: {
      cookie: `a=1; ${cookie}; __Host-env=planted; b=2`,
      authorization: "Basic eA==",
      forwarded: "for=6.6.6.6",
      "x-forwarded-for": "6.6.6.6",
      "X-Forwarded-Prefix": "/evil",
      x_forwarded_for: "6.6.6.6",
      "x-real-ip": "6.6.6.6",
      connection: "keep-alive, x-secret",
      "x-secret": "hop",
      te: "trailers",
      "x-kept": "yes",
    },
  });
  expect(reply.status).toBe(200);
  const seen = JSON.parse(reply.body);
  expect([seen.method, seen.url, seen.body]).toEqual(["POST", "/api/contents?a=%2F&b=%C3%BC", "hello"]);
  const headers: [string, string][] = [];
  for (let i = 0; i < seen.headers.length; i += 2) headers.push([seen.headers[i].toLowerCase(), seen.headers[i + 1]]);
  expect(headers.sort()).toEqual(
    [
      ["host", host],
      ["cookie", "a=1; b=2"],
      ["authorization", `token ${row.runToken}`],
      ["x-forwarded-for", "127.0.0.1"],
      ["x-forwarded-proto", "http"],
      ["x-forwarded-host", host],
      ["content-length", "5"],
      ["connection", "keep-alive"],
      ["x-kept", "yes"],
    ].sort(),
  );
});

test("a response loses header fields that affect other hosts", async () => {
  const upstream = await upstreamServer((_request, response) => {
    response.writeHead(201, [
      "Set-Cookie",
      "wide=1; Path=/; domain=localhost",
      "Set-Cookie",
      "__host-ENV=stolen",
      "Set-Cookie",
      "env=stolen; Path=/",
      "Set-Cookie",
      "=env=nameless",
      "Set-Cookie",
      "_xsrf=kept; Path=/",
      "Clear-Site-Data",
      '"*"',
      "Connection",
      "x-hop",
      "X-Hop",
      "1",
      "Keep-Alive",
      "timeout=1",
      "X-Kept",
      "yes",
      "Content-Length",
      "2",
    ]);
    response.end("ok");
  });
  const { environment, signedIn, ask, hostOf } = await setupGateway();
  const row = await environment({ port: upstream.port });
  const reply = await ask(hostOf(row), "/", { headers: { cookie: await signedIn(row) } });
  expect([reply.status, reply.body]).toEqual([201, "ok"]);
  expect(reply.headers["set-cookie"]).toEqual(["_xsrf=kept; Path=/"]);
  expect(reply.headers["x-kept"]).toBe("yes");
  for (const name of ["clear-site-data", "x-hop"]) expect(reply.headers[name]).toBeUndefined();
  expect(reply.headers["keep-alive"]).not.toBe("timeout=1");
});

test("a chunked request body is forwarded, and a response without a body ends", async () => {
  const { ask, host, cookie } = await echoing();
  const chunked = await ask(host, "/", {
    method: "PUT",
    headers: { cookie, "transfer-encoding": "chunked" },
    body: "x".repeat(100_000),
  });
  expect(JSON.parse(chunked.body).body).toHaveLength(100_000);
  const head = await ask(host, "/", { method: "HEAD", headers: { cookie } });
  expect([head.status, head.body]).toEqual([200, ""]);
});

test("a response is streamed chunk by chunk, and idle connections are reused", async () => {
  let release = () => {};
  const upstream = await upstreamServer((request, response) => {
    if (request.url === "/quick") return void response.end("quick");
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: 1\n\n");
    release = () => response.end("data: 2\n\n");
  });
  const { environment, signedIn, open, hostOf, ask } = await setupGateway();
  const row = await environment({ port: upstream.port });
  const cookie = await signedIn(row);
  const stream = open(`GET /events HTTP/1.1\r\nHost: ${hostOf(row)}\r\nCookie: ${cookie}\r\n\r\n`);
  await expect.poll(stream.received).toContain("data: 1");
  expect(stream.received()).not.toContain("data: 2");
  for (let i = 0; i < 5; i++) expect((await ask(hostOf(row), "/quick", { headers: { cookie } })).body).toBe("quick");
  expect(upstream.sockets.size).toBe(2);
  release();
  await expect.poll(stream.received).toContain("data: 2\n\n\r\n0\r\n\r\n");
});

test("back-pressure of a slow client reaches the environment, and no byte is lost", async () => {
  let written = 0;
  const sent = createHash("sha256");
  const total = 64 * 1024 * 1024;
  const upstream = await upstreamServer((_request, response) => {
    response.setHeader("content-length", total);
    // The gateway buffers several chunks of this size before it pauses.
    const more = () => {
      if (written === total) return void response.end();
      const piece = randomBytes(32 * 1024);
      sent.update(piece);
      written += piece.length;
      if (response.write(piece)) setImmediate(more);
      else response.once("drain", more);
    };
    more();
  });
  const { environment, signedIn, open, hostOf } = await setupGateway();
  const row = await environment({ port: upstream.port });
  const { socket } = open(
    `GET /big HTTP/1.1\r\nHost: ${hostOf(row)}\r\nCookie: ${await signedIn(row)}\r\nConnection: close\r\n\r\n`,
  );
  let head = "";
  let read = 0;
  const received = createHash("sha256");
  socket.removeAllListeners("data").on("data", (chunk: Buffer) => {
    const start = read > 0 ? 0 : chunk.indexOf("\r\n\r\n") + 4;
    head += chunk.toString("latin1", 0, start);
    received.update(chunk.subarray(start));
    read += chunk.length - start;
  });
  socket.pause();
  let before = -1;
  await poll(async () => {
    const still = written === before && written > 0;
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 100));
    return still;
  });
  expect(written).toBeLessThan(total / 2);
  socket.resume();
  await expect.poll(() => read, { timeout: 10_000 }).toBe(total);
  expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(received.digest("hex")).toBe(sent.digest("hex"));
});

test("a client that disconnects aborts the upstream request", async () => {
  let aborted = false;
  const upstream = await upstreamServer((request, response) => {
    response.on("close", () => {
      aborted = !response.writableFinished;
    });
    if (request.url === "/partly") response.write("some");
  });
  const { environment, signedIn, open, hostOf, gateway } = await setupGateway();
  const row = await environment({ port: upstream.port });
  const cookie = await signedIn(row);
  for (const path of ["/partly", "/silent"]) {
    aborted = false;
    const { socket } = open(`GET ${path} HTTP/1.1\r\nHost: ${hostOf(row)}\r\nCookie: ${cookie}\r\n\r\n`);
    await expect.poll(() => gateway.openSockets).toBe(1);
    await expect.poll(() => upstream.sockets.size).toBe(1);
    socket.resetAndDestroy();
    await expect.poll(() => aborted).toBe(true);
    await expect.poll(() => gateway.openSockets).toBe(0);
    await expect.poll(() => upstream.sockets.size).toBe(0);
  }
});

test("an upstream that fails mid-response truncates it, and an unreachable one is a 502 page", async () => {
  const upstream = await upstreamServer((_request, response) => {
    response.writeHead(200, { "content-length": 100 });
    response.write("half");
    setImmediate(() => response.destroy());
  });
  const { environment, signedIn, open, hostOf, ask } = await setupGateway();
  const row = await environment({ port: upstream.port });
  const cookie = await signedIn(row);
  const cut = open(`GET / HTTP/1.1\r\nHost: ${hostOf(row)}\r\nCookie: ${cookie}\r\n\r\n`);
  await cut.closed;
  expect(cut.received()).toMatch(/^HTTP\/1\.1 200[\s\S]*half$/);
  upstream.server.close();
  const page = await ask(hostOf(row), "/lab?x=<b>", { headers: { cookie, accept: "text/html" } });
  expect(page.status).toBe(502);
  expect(page.body).toMatch(/does not answer[\s\S]*no answer since \d[\s\S]*href="\/lab\?x=&#60;b&#62;">Try again/);
  const json = await ask(hostOf(row), "/api", { headers: { cookie } });
  expect([json.status, JSON.parse(json.body).code]).toEqual([502, "not_answering"]);
});

test("a request on a stale pooled connection is retried", async () => {
  const upstream = await upstreamServer((_request, response) => void response.end("ok"));
  const { environment, signedIn, hostOf, ask } = await setupGateway();
  const row = await environment({ port: upstream.port });
  const headers = { cookie: await signedIn(row) };
  for (let i = 0; i < 20; i++) {
    const reply = ask(hostOf(row), "/", { headers });
    for (const socket of upstream.sockets) socket.end();
    expect((await reply).body).toBe("ok");
  }
});

test("a connection is reused after a response whose last chunk filled the buffer", async () => {
  const head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  const size = 65_536 - head.length - "ffff\r\n\r\n0\r\n\r\n".length;
  const upstream = createServer((socket) => {
    socket
      .on("error", () => {})
      .on("data", () => socket.write(`${head}${size.toString(16)}\r\n${"x".repeat(size)}\r\n0\r\n\r\n`));
  });
  const sockets = track(upstream);
  const port = await listen(upstream);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    upstream.close();
  });
  const { environment, signedIn, hostOf, ask } = await setupGateway();
  const row = await environment({ port });
  const headers = { cookie: await signedIn(row) };
  for (let i = 0; i < 5; i++) expect((await ask(hostOf(row), "/", { headers })).body).toHaveLength(size);
  expect(sockets.size).toBe(1);
});

test("connections are never shared between environments", async () => {
  const upstream = await upstreamServer((request, response) => void response.end(String(request.socket.remotePort)));
  const { environment, signedIn, hostOf, ask } = await setupGateway();
  const ports = new Set<string>();
  for (const row of [await environment({ port: upstream.port }), await environment({ port: upstream.port })]) {
    ports.add((await ask(hostOf(row), "/", { headers: { cookie: await signedIn(row) } })).body);
  }
  expect(ports.size).toBe(2);
});

test("concurrent requests are limited per environment and per address", async () => {
  const upstream = await upstreamServer(() => {});
  for (const [limits, status] of [
    [{ perEnvironment: 2 }, 503],
    [{ perAddress: 2 }, 429],
  ] as const) {
    const { environment, signedIn, hostOf, ask, open, gateway } = await setupGateway({ limits });
    const row = await environment({ port: upstream.port });
    const cookie = await signedIn(row);
    const held = [1, 2].map(() => open(`GET / HTTP/1.1\r\nHost: ${hostOf(row)}\r\nCookie: ${cookie}\r\n\r\n`));
    await expect.poll(() => gateway.openSockets).toBe(2);
    const reply = await ask(hostOf(row), "/", { headers: { cookie } });
    expect([reply.status, reply.headers["retry-after"]]).toEqual([status, "5"]);
    for (const { socket } of held) socket.destroy();
    await expect.poll(() => gateway.openSockets).toBe(0);
  }
});
