import { expect, test } from "vitest";
import { type Random, seeded } from "../testing/random.ts";
import type { Row } from "./testing/insert-environment.ts";
import { setupGateway } from "./testing/setup-gateway.ts";
import { withProgram } from "./testing/with-program.ts";

const cases = Number(process.env["FUZZ_CASES"] ?? 2000);
const seed = Number(process.env["FUZZ_SEED"] ?? Math.floor(Math.random() * 2 ** 31));

test(`no host name and no path of a port leads to JupyterLab or to another tenant: ${cases} cases of seed ${seed}`, async () => {
  const given = await setupGateway();
  const own = await withProgram(given, "demo");
  const other = await withProgram(given, "demo2", "other");
  const cookie = await given.signedIn(own.row, null, 6006);
  await given.signedIn(other.row, null, 6006);
  const pick = seeded(seed).of;
  let reached = 0;
  for (let n = 0; n < cases; n += 50)
    await Promise.all(
      Array.from({ length: Math.min(50, cases - n) }, async () => {
        const text = mutated(pick, own.host, cookie, own.row);
        const client = given.open(text);
        // What is no whole request waits for its end.
        const end = setTimeout(() => client.socket.end(), 1000);
        await client.closed;
        clearTimeout(end);
        const shown = `seed ${seed}: ${JSON.stringify(text)}`;
        expect(client.received(), shown).not.toContain("JupyterLab of");
        expect(client.received(), shown).not.toContain('"program":"demo2"');
        if (client.received().includes('"program":"demo"')) reached += 1;
      }),
    );
  expect([own.lab.requests, other.lab.requests, other.lab.joined], `seed ${seed}`).toEqual([[], [], []]);
  expect([...new Set(own.lab.joined)]).toEqual([6006]);
  // Otherwise the generator would prove nothing.
  expect(reached).toBeGreaterThan(cases / 10);
});

const hostPieces = [
  "6006",
  "6007",
  "8888",
  "--",
  "-",
  ".",
  "demo",
  "demo2",
  "localhost",
  "%2e",
  "%00",
  "\0",
  "@",
  "/",
  "\\",
  "ü",
  "xn--",
  ":",
  "#",
  "?",
  " ",
  "\t",
  "DEMO",
  "0",
  "+",
  "[::1]",
];
const paths = [
  "/",
  "/lab",
  "/api/contents",
  "/berth/ports",
  "/berth/ports/6006",
  "/berth/ports/6007",
  "/_berth/sign-in?code=x",
  "/_berth/share?key=x",
  "/files/a",
  "/terminals/websocket/1",
];
const pathPieces = [
  "..",
  "../",
  "/..",
  "%2e%2e",
  "%2f",
  "//",
  "\\",
  "..;/",
  "%00",
  "%0d%0a",
  "\r\n",
  "http://demo.localhost/",
  "?",
  "#",
  ";",
  "@demo2.localhost",
  "%25%32%65",
  "~",
  "*",
];
const methods = [
  "GET",
  "GET",
  "GET",
  "POST",
  "PUT",
  "HEAD",
  "OPTIONS",
  "DELETE",
  "CONNECT",
  "TRACE",
  "get",
  "GET /lab HTTP/1.1\r\nX:",
];
const fields = [
  "Upgrade: tcp",
  "Upgrade: websocket",
  "Connection: Upgrade",
  "Connection: Host, Cookie",
  "X-Forwarded-Host: demo.localhost",
  "X-Original-URL: /lab",
  "X-Rewrite-URL: /lab",
  "Forwarded: host=demo.localhost",
  "Transfer-Encoding: chunked",
  "Content-Length: 5",
  "Content-Length: 0",
  "Authorization: token wrong",
  "Expect: 100-continue",
  "Host: demo.localhost",
  "Service-Worker: script",
  "Origin: http://demo.localhost",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];
const tails = [
  "",
  "",
  "",
  "hello",
  "0\r\n\r\n",
  "GET /lab HTTP/1.1\r\nHost: demo.localhost\r\n\r\n",
  "GET /berth/ports/6007 HTTP/1.1\r\nHost: localhost\r\nUpgrade: tcp\r\nConnection: Upgrade\r\n\r\n",
];

/** A request of the owner's browser at the port's host, with up to three changes anywhere. */
function mutated(pick: Random["of"], host: string, cookie: string, { secret }: Row): string {
  let [name, path, method, tail] = [host, pick(paths), "GET", ""];
  const more: string[] = [];
  for (let n = pick([0, 1, 1, 2, 3]); n > 0; n--) {
    const kind = pick(["host", "host", "path", "path", "path", "method", "field", "field", "tail", "token"]);
    if (kind === "host") name = spliced(pick, name, pick(hostPieces));
    if (kind === "path") path = spliced(pick, path, pick(pathPieces));
    if (kind === "method") method = pick(methods);
    if (kind === "field") more.push(pick(fields));
    if (kind === "tail") tail = pick(tails);
    if (kind === "token") path += `?token=${pick(["x", "token", secret.slice(1)])}`;
  }
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${name}`, `Cookie: ${cookie}`, ...more, "Connection: close"];
  return `${head.join("\r\n")}\r\n\r\n${tail}`;
}

/** Puts a piece into the text, in the place of some of its letters. */
function spliced(pick: Random["of"], text: string, piece: string): string {
  const at = pick(Array.from({ length: text.length + 1 }, (_, index) => index));
  return text.slice(0, at) + piece + text.slice(at + pick([0, 0, 1, 2, 4, 6]));
}
