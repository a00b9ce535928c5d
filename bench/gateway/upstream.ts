// A stub for environments: a small response, a 64 KB response, and echoing WebSockets, on plain sockets so that it costs
// little. Prints its port.
import { createHash } from "node:crypto";
import { type AddressInfo, createServer, type Socket } from "node:net";

const small = answer(JSON.stringify({ version: "2.18.0" }));
const large = answer("x".repeat(64 * 1024));
const headEnd = "\r\n\r\n";

function answer(body: string): Buffer {
  const date = new Date().toUTCString();
  return Buffer.from(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nDate: ${date}\r\nConnection: keep-alive\r\n\r\n${body}`,
  );
}

/** Requests without bodies, one after the other. */
function serve(socket: Socket): void {
  let waiting = "";
  const read = (chunk: Buffer) => {
    waiting += chunk.toString("latin1");
    const end = waiting.indexOf(headEnd);
    if (end === -1) return;
    const head = waiting.slice(0, end);
    waiting = waiting.slice(end + headEnd.length);
    const key = /\r\nsec-websocket-key: (.+)/i.exec(head)?.[1];
    if (key !== undefined) {
      socket.off("data", read);
      return echo(socket, key);
    }
    socket.write(head.startsWith("GET /large ") ? large : small);
    if (/\r\nconnection: close/i.test(head)) socket.end();
  };
  socket
    .on("data", read)
    .on("error", () => {})
    .on("end", () => socket.end());
}

function echo(socket: Socket, key: string): void {
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on("data", (chunk) => socket.write(chunk));
}

const server = createServer({ noDelay: true }, serve);
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
