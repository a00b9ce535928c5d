import { once } from "node:events";
import { createServer, get } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test, vi } from "vitest";
import { insertEnvironment } from "../gateway/testing/insert-environment.ts";
import { listen, openUpstream } from "../gateway/testing/setup-gateway.ts";
import { limitConnections } from "../http/limit-connections.ts";
import { testApp } from "../testing/test-app.ts";

interface Sent {
  readonly host: string;
  readonly path: string;
  readonly fields?: string;
}

/** Announces a body of 1,000 bytes and sends ten; what was heard, and whether the connection has ended. */
function slow(port: number, { host, path, fields = "" }: Sent, drip = false) {
  const socket = connect(port, "127.0.0.1");
  let heard = "";
  let ended = false;
  socket.setEncoding("latin1").on("data", (piece) => {
    heard += piece;
  });
  socket
    .on("error", () => {})
    .on("close", () => {
      ended = true;
    });
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n${fields}\r\n{"email":"a`,
  );
  const dripping = drip ? setInterval(() => socket.writable && socket.write("a"), 50) : undefined;
  onTestFinished(() => {
    clearInterval(dripping);
    socket.destroy();
  });
  return { heard: () => heard, ended: () => ended };
}

/** Timers of half a minute end after a second. */
function hasten() {
  const { setTimeout: real } = globalThis;
  const hastened: typeof setTimeout = Object.assign(
    (work: () => void, ms?: number) => real(work, ms === 30_000 ? 1000 : ms),
    real,
  );
  vi.stubGlobal("setTimeout", hastened);
  onTestFinished(() => void vi.unstubAllGlobals());
}

test("a body that is missing or slow ends its connection; one for an environment may be slow", async () => {
  hasten();
  const { url, db } = await testApp();
  const port = Number(new URL(url).port);
  const upstream = await openUpstream(createServer((request) => void request.resume()));
  const row = await insertEnvironment(db, { port: upstream.port });
  const name = `${row.subdomain}.localhost:3000`;
  const asked = () => once(get({ port, headers: { host: name } }), "response").then(([{ statusCode }]) => statusCode);
  await expect.poll(asked).toBe(401);
  const token = `Authorization: token ${row.secret}\r\n`;
  const upload = slow(port, { host: name, path: "/api/contents/x", fields: token });
  const cut = [
    slow(port, { host: "localhost:3000", path: "/auth/signup" }),
    slow(port, { host: "localhost:3000", path: "/auth/signup" }, true),
    slow(port, { host: "localhost:3000", path: "/environments/x/extend" }),
    slow(port, { host: name, path: "/_berth/share", fields: `Origin: http://${name}\r\n` }, true),
    slow(port, { host: name, path: "/api/contents/x" }, true),
  ];
  await expect.poll(() => cut.map(({ ended }) => ended())).toEqual(cut.map(() => true));
  const [silent, dripping, refused] = cut.map(({ heard }) => heard());
  for (const heard of [silent, dripping]) {
    expect(heard).toMatch(/^HTTP\/1\.1 408 /);
    expect(heard).toContain("did not arrive within 30 seconds");
  }
  expect(refused).toMatch(/^HTTP\/1\.1 401 /);
  expect([upload.ended(), upload.heard()]).toEqual([false, ""]);
});

test("a request without a token above the rate limit is refused before the body is read", async () => {
  const { url } = await testApp({ ANONYMOUS_PER_MINUTE: "2" });
  const port = Number(new URL(url).port);
  const sent = [1, 2, 3].map(() => slow(port, { host: "localhost:3000", path: "/auth/signup" }));
  await expect
    .poll(() => sent.map(({ heard }) => heard().slice(9, 12)).filter((status) => status !== ""))
    .toEqual(["429"]);
});

test("connections of one address are limited, those of a trusted proxy are not", async () => {
  const opened = async (trusted: boolean) => {
    const server = createServer((_request, response) => void response.end());
    limitConnections(server, () => trusted, 3);
    const port = await listen(server);
    const sockets = Array.from({ length: 4 }, () => connect(port, "127.0.0.1").on("error", () => {}));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    return { server, port, sockets };
  };
  const own = await opened(false);
  await expect
    .poll(() => own.sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length)
    .toBe(1);
  for (const socket of own.sockets) socket.destroy();
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${own.port}/`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200);
  const proxy = await opened(true);
  const connections = () => new Promise<number>((resolve) => proxy.server.getConnections((_, count) => resolve(count)));
  await expect.poll(connections).toBe(4);
});
