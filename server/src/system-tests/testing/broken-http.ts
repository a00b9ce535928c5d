import { createConnection } from "node:net";
import type { Random } from "../../testing/random.ts";

const head = "POST /auth/signup HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";

/** Bytes, in latin1, that are no request or no honest one. */
export const brokenHttp: readonly string[] = [
  "\x00\x01\x02\r\n\r\n",
  "GET / HTTP/9.9\r\n\r\n",
  "GET /\x00 HTTP/1.1\r\nhost: localhost\r\n\r\n",
  "GET / HTTP/1.1\r\n\r\n",
  "GET / HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n",
  `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${"y".repeat(100_000)}\r\n\r\n`,
  `GET /${"y".repeat(100_000)} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: localhost\r\n${"x: y\r\n".repeat(5000)}\r\n`,
  `${head}content-length: -1\r\n\r\n{}`,
  `${head}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
  `${head}content-length: 99999999999999999999\r\n\r\n{}`,
  `${head}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n{}`,
  `${head}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  `${head}transfer-encoding: chunked\r\n\r\nffffffffffffffff1\r\n`,
  `${head}transfer-encoding: gzip\r\n\r\n`,
  `${head}content-length: 4\r\n\r\n\xff\xfe\xfd\xfc`,
  `${head}content-length: 70000\r\nexpect: 100-continue\r\n\r\n${"x".repeat(70_000)}`,
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "CONNECT evil.example:443 HTTP/1.1\r\nhost: evil.example\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
  "GET http://evil.example/ HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
  "TRACE / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
  "GET /../../../../etc/passwd HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
  "GET /assets/%2e%2e/%2e%2e/package.json HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
  "GET / HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n",
  "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
];

/** A broken request, or an honest one with bytes changed, lost, doubled and moved. */
export function brokenBytes(random: Random, honest: string): string {
  if (random.chance(0.3)) return random.of(brokenHttp);
  let bytes = honest;
  for (let left = 1 + random.below(4); left > 0; left--) {
    const at = random.below(bytes.length);
    const to = at + random.below(20);
    const part = bytes.slice(at, to);
    const instead = random.of([
      ...["", part + part, "\r\n", "\0", "\n", "\r", " ", ":", "\xff", "\r\n\r\n", "\t"],
      ...[
        "content-length: 9\r\n",
        "transfer-encoding: chunked\r\n",
        "host: evil.example\r\n",
        "\r\nexpect: 100-continue\r\n",
      ],
    ]);
    bytes = bytes.slice(0, at) + instead + bytes.slice(to);
  }
  return bytes;
}

/** What comes back on one connection until it ends. */
export async function exchange(port: number, bytes: string): Promise<string> {
  const socket = createConnection(port, "127.0.0.1");
  socket.on("error", () => {});
  socket.end(Buffer.from(bytes, "latin1"));
  let text = "";
  try {
    for await (const chunk of socket) text += chunk;
  } catch {
    // A cut connection is allowed.
  }
  return text;
}
