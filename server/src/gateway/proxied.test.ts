import { createServer } from "node:http";
import { connect, createServer as createNetServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { trustedProxies } from "../http/client-address.ts";
import { listen, openUpstream, poll, setupGateway, track } from "./testing/setup-gateway.ts";

/** A reverse proxy that adds X-Forwarded-For to the first request of a connection. */
async function reverseProxy(port: number): Promise<number> {
  const proxy = createNetServer((client) => {
    const behind = connect(port, "127.0.0.1");
    for (const socket of [client, behind]) socket.on("error", () => socket.destroy());
    client.on("close", () => behind.destroy());
    behind.on("close", () => client.destroy());
    client.once("data", (head) => {
      const from = client.remoteAddress;
      behind.write(head.toString("latin1").replace("\r\n\r\n", `\r\nX-Forwarded-For: ${from}\r\n\r\n`), "latin1");
      client.pipe(behind);
    });
    behind.pipe(client);
  });
  const open = track(proxy);
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  return listen(proxy);
}

/** Customers with an environment each, behind a proxy that the gateway trusts or not. */
async function behindProxy(trustProxy: string | undefined) {
  const seen: (string | undefined)[] = [];
  const environment = createServer((request, response) => {
    seen.push(request.headers["x-forwarded-for"] as string | undefined);
    response.end("notebook");
  });
  environment.on("upgrade", (_request, socket) => {
    socket.on("error", () => {});
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
  });
  const upstream = await openUpstream(environment);
  const given = await setupGateway({ trustProxy: trustedProxies(trustProxy) });
  const proxy = await reverseProxy(given.port);
  /** One connection from `from`, any loopback address; returns the received text. */
  const visit = (from: string, request: string) => {
    const socket = connect({ port: proxy, host: "127.0.0.1", localAddress: from });
    let text = "";
    socket.setEncoding("latin1").on("data", (piece) => {
      text += piece;
    });
    socket.on("error", () => {});
    socket.write(request, "latin1");
    onTestFinished(() => void socket.destroy());
    return () => text;
  };
  const customer = async (from: string) => {
    const row = await given.environment({ port: upstream.port, user_id: from });
    await poll(() => given.ask(given.hostOf(row), "/").then(({ status }) => status === 401));
    const by = `Host: ${given.hostOf(row)}\r\nAuthorization: token ${row.secret}\r\n`;
    return {
      page: async (fields = "") => {
        const received = visit(from, `GET /lab HTTP/1.1\r\n${by}${fields}Connection: close\r\n\r\n`);
        await expect.poll(received).toMatch(/^HTTP\/1\.1 \d{3}/);
        return Number(received().slice(9, 12));
      },
      socket: () => visit(from, `GET /ws HTTP/1.1\r\n${by}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`),
    };
  };
  return { ...given, seen, customer };
}

test("behind a trusted proxy, 1,000 sockets of one client do not block another client", async () => {
  const { customer, gateway } = await behindProxy("127.0.0.1");
  const [loud, quiet] = [await customer("127.0.0.2"), await customer("127.0.0.3")];
  const answers = Array.from({ length: 1000 }, loud.socket);
  await expect
    .poll(() => answers.filter((received) => received().length > 0).length, { timeout: 20_000 })
    .toBe(answers.length);
  const up = answers.filter((received) => received().startsWith("HTTP/1.1 101")).length;
  expect([up, gateway.openSockets]).toEqual([500, 500]);
  // The limit of one environment does not exhaust the limit of its owner's network.
  expect([await quiet.page(), await loud.page()]).toEqual([200, 503]);
  expect(await (await customer("127.0.0.2")).page()).toBe(200);
});

test("X-Forwarded-For is taken from a trusted proxy only", async () => {
  const trusted = await behindProxy("127.0.0.1");
  const page = (await trusted.customer("127.0.0.2")).page;
  expect(await page()).toBe(200);
  // The client's own header is ignored.
  expect(await page("X-Forwarded-For: 203.0.113.9\r\n")).toBe(200);
  const unknown = await behindProxy(undefined);
  expect(await (await unknown.customer("127.0.0.2")).page()).toBe(200);
  expect([...trusted.seen, ...unknown.seen]).toEqual(["127.0.0.2", "127.0.0.2", "127.0.0.1"]);
});

test("addresses of one home network count as one", async () => {
  const upstream = await openUpstream(createServer(() => {}));
  const { environment, hostOf, ask, open, gateway } = await setupGateway({
    trustProxy: trustedProxies("127.0.0.1"),
    limits: { perAddress: 2 },
  });
  const row = await environment({ port: upstream.port });
  await poll(() => ask(hostOf(row), "/").then(({ status }) => status === 401));
  const by = { authorization: `token ${row.secret}` };
  const from = (address: string) =>
    open(
      `GET / HTTP/1.1\r\nHost: ${hostOf(row)}\r\nAuthorization: ${by.authorization}\r\nX-Forwarded-For: ${address}\r\n\r\n`,
    );
  for (const address of ["2001:db8:1:2::1", "2001:db8:1:2:a:b:c:d"]) from(address);
  await expect.poll(() => gateway.openSockets).toBe(2);
  const third = await ask(hostOf(row), "/", { headers: { ...by, "x-forwarded-for": "2001:db8:1:2:ffff::1" } });
  expect(third.status).toBe(429);
  from("2001:db8:1:3::1");
  await expect.poll(() => gateway.openSockets).toBe(3);
});
