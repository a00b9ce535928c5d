// Stands for the environments: a small answer, a 64 KB answer, and WebSockets that echo bytes. Prints its port.
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const small = Buffer.from(JSON.stringify({ version: "2.18.0" }));
const large = Buffer.alloc(64 * 1024, "x");
const server = createServer((request, response) => {
  const body = request.url === "/large" ? large : small;
  response.writeHead(200, { "content-type": "application/json", "content-length": body.length });
  response.end(body);
});
server.keepAliveTimeout = 60_000;
server.on("upgrade", (request, socket) => {
  const accept = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64");
  socket.on("error", () => {});
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on("data", (chunk) => socket.write(chunk)).on("end", () => socket.end());
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
