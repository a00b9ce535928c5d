import { createServer, type Socket } from "node:net";
import { expect, test } from "vitest";
import { openUpstream, setupGateway } from "../testing/setup-gateway.ts";

/** An upstream that records every byte and sends a fixed response, with a signed-in client. */
async function recording(answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") {
  let forwarded = "";
  const upstream = createServer((socket: Socket) => {
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      forwarded += chunk.toString("latin1");
      socket.write(answer, "latin1");
    });
  });
  const { port, sockets } = await openUpstream(upstream);
  const given = await setupGateway();
  const row = await given.environment({ port });
  return { ...given, host: given.hostOf(row), cookie: await given.signedIn(row), forwarded: () => forwarded, sockets };
}

test("an ambiguous request is never forwarded (request smuggling)", async () => {
  const { open, host, cookie, forwarded } = await recording();
  const fields = `Host: ${host}\r\nCookie: ${cookie}\r\n`;
  const hidden = "GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n";
  const attempts: Readonly<Record<string, string>> = {
    "length and coding": `POST / HTTP/1.1\r\n${fields}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
    "two lengths": `POST / HTTP/1.1\r\n${fields}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    "a list of lengths": `POST / HTTP/1.1\r\n${fields}Content-Length: 0, ${hidden.length}\r\n\r\n${hidden}`,
    "an odd coding": `POST / HTTP/1.1\r\n${fields}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
    "two codings": `POST / HTTP/1.1\r\n${fields}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n${hidden}`,
    "a coding twice": `POST / HTTP/1.1\r\n${fields}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${hidden}`,
    "a space before the colon": `POST / HTTP/1.1\r\n${fields}Content-Length : 4\r\n\r\n${hidden}`,
    "a folded line": `GET / HTTP/1.1\r\n${fields}X-A: 1\r\n Transfer-Encoding: chunked\r\n\r\n${hidden}`,
    "a bare line feed": `GET / HTTP/1.1\nHost: ${host}\nCookie: ${cookie}\n\n`,
    "a bare carriage return": `GET / HTTP/1.1\r\n${fields}X-A: 1\rX-B: 2\r\n\r\n`,
    "two hosts": `GET / HTTP/1.1\r\n${fields}Host: other.localhost\r\n\r\n`,
    "no host": `GET / HTTP/1.1\r\nCookie: ${cookie}\r\n\r\n`,
    "the absolute form": `GET http://${host}/ HTTP/1.1\r\n${fields}\r\n`,
    "an asterisk": `OPTIONS * HTTP/1.1\r\n${fields}\r\n`,
    CONNECT: `CONNECT 127.0.0.1:22 HTTP/1.1\r\n${fields}\r\n`,
    "a space in the path": `GET /a b HTTP/1.1\r\n${fields}\r\n`,
    "a bad chunk size": `POST / HTTP/1.1\r\n${fields}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n`,
    "a handshake with a body": `GET / HTTP/1.1\r\n${fields}Origin: http://${host}\r\nConnection: upgrade\r\nUpgrade: websocket\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
    "an HTTP/2 preface": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  };
  for (const [name, text] of Object.entries(attempts)) {
    const { socket, received } = open(text);
    await expect.poll(() => socket.closed || received() !== "", { message: name }).toBe(true);
    expect.soft(received(), name).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
    socket.destroy();
  }
  expect(forwarded().replace(/^POST \/ HTTP\/1\.1\r\nHost[\s\S]*?chunked\r\n[\s\S]*?\r\n\r\n/, "")).not.toMatch(
    /hidden|HTTP/,
  );
});

test("pipelined requests are separate requests, also after a body", async () => {
  const { open, host, cookie, forwarded } = await recording();
  const fields = `Host: ${host}\r\nCookie: ${cookie}\r\n`;
  const { received } = open(
    `POST /a HTTP/1.1\r\n${fields}Content-Length: 3\r\n\r\nabcGET /b HTTP/1.1\r\n${fields}\r\n`,
  );
  await expect.poll(() => received().split("HTTP/1.1 200").length - 1).toBe(2);
  expect(forwarded()).toMatch(/^POST \/a [\s\S]*abcGET \/b /);
});

test("headers over 16 KB get 431 and lose their cookies", async () => {
  const { open, host } = await recording();
  const { closed, received } = open(`GET / HTTP/1.1\r\nHost: ${host}\r\nCookie: ${"a=1; ".repeat(4000)}\r\n\r\n`);
  await closed;
  expect(received()).toMatch(/^HTTP\/1\.1 431 [\s\S]*Clear-Site-Data: "cookies"\r\n[\s\S]*too many cookies/);
});

test.each([
  ["length and coding", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"],
  ["a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok"],
  ["a bare line feed", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nok"],
  [
    "a header split by a carriage return",
    "HTTP/1.1 200 OK\r\nX-A: 1\rSet-Cookie: env=1\r\nContent-Length: 2\r\n\r\nok",
  ],
  ["a folded line", "HTTP/1.1 200 OK\r\nX-A: 1\r\n Content-Length: 2\r\n\r\nok"],
  ["a line without a colon", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A\r\n\r\nok"],
  ["a line without a name", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n: 1\r\n\r\nok"],
  ["a zero byte", "HTTP/1.1 200 OK\r\nX-A: 1\0\r\nContent-Length: 2\r\n\r\nok"],
  ["a coding twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["another protocol", "ICY 200 OK\r\n\r\nok"],
  ["an unasked switch", "HTTP/1.1 101 Switching Protocols\r\n\r\nraw"],
  ["an endless head", `HTTP/1.1 200 OK\r\nX-A: ${"a".repeat(70_000)}`],
])("a response with %s is a 502, and its connection is not reused", async (_name, answer) => {
  const { ask, host, cookie, sockets } = await recording(answer);
  const reply = await ask(host, "/", { headers: { cookie } });
  expect(reply.status).toBe(502);
  await expect.poll(() => sockets.size).toBe(0);
});

test("bytes after a response do not become part of the next one", async () => {
  const { ask, host, cookie, sockets } = await recording(
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
  );
  for (let i = 0; i < 3; i++) expect((await ask(host, "/", { headers: { cookie } })).body).toBe("ok");
  await expect.poll(() => sockets.size).toBe(0);
});

test("a chunked response is decoded exactly, wherever it is split", async () => {
  const { ask, host, cookie } = await recording(
    "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n06\r\n world\r\n0\r\nX-Trailer: 1\r\n\r\n",
  );
  for (let i = 0; i < 3; i++) expect((await ask(host, "/", { headers: { cookie } })).body).toBe("hello world");
});
