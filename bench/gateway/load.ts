// Generates load over plain sockets. Argument: `Load` as JSON. Prints `Reached` as one line of JSON.
import { connect, type Socket } from "node:net";

export interface Load {
  readonly kind: "requests" | "echoes" | "resets";
  readonly port: number;
  /** Header fields of each client, each ending with CRLF; sockets use them round robin. */
  readonly clients: readonly string[];
  /** For requests: one path, or one per client. */
  readonly path?: string | readonly string[];
  readonly sockets: number;
  readonly forMs: number;
}

export interface Reached {
  readonly perSecond: number;
  readonly p99Ms: number;
  readonly count: number;
}

const load: Load = JSON.parse(process.argv[2] ?? "");
const headEnd = Buffer.from("\r\n\r\n");
const message = Buffer.concat([Buffer.from([0x82, 0x80 | 64, 1, 2, 3, 4]), Buffer.alloc(64)]);
const latenciesMs: number[] = [];
let count = 0;
let stopAt = Number.POSITIVE_INFINITY;

if (load.kind === "requests") await atOnce(load.sockets, request);
else if (load.kind === "echoes") await echoes();
else await resets();

async function atOnce(sockets: number, one: (n: number) => Promise<void>): Promise<void> {
  const from = performance.now();
  stopAt = from + load.forMs;
  await Promise.all(Array.from({ length: sockets }, (_, n) => one(n)));
  report(performance.now() - from);
}

function pathOf(n: number): string {
  const { path = "/" } = load;
  return typeof path === "string" ? path : (path[n % path.length] ?? "/");
}

function client(n: number): string {
  return load.clients[n % load.clients.length] ?? "";
}

/** One keep-alive connection with one request after the other. */
function request(n: number): Promise<void> {
  const text = `GET ${pathOf(n)} HTTP/1.1\r\n${client(n)}\r\n`;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true }, () => socket.write(text));
  const missingAfter = createMeasure(reject);
  let sentAt = performance.now();
  socket.on("data", (chunk: Buffer) => {
    if (missingAfter(chunk) !== 0) return;
    const now = performance.now();
    latenciesMs.push(now - sentAt);
    count += 1;
    if (now >= stopAt) return void socket.destroy();
    sentAt = now;
    socket.write(text);
  });
  socket.on("error", reject).on("close", () => resolve());
  return promise;
}

/** Returns the missing bytes of the current response after each chunk; undefined until its headers are complete. */
function createMeasure(refused: (error: Error) => void) {
  let waiting: Buffer | undefined;
  let missing = 0;
  return (chunk: Buffer): number | undefined => {
    if (missing > 0) {
      missing -= chunk.length;
      return missing;
    }
    const bytes = waiting ? Buffer.concat([waiting, chunk]) : chunk;
    const end = bytes.indexOf(headEnd);
    waiting = end === -1 ? bytes : undefined;
    if (end === -1) return undefined;
    const head = bytes.toString("latin1", 0, end);
    if (!head.startsWith("HTTP/1.1 200")) refused(new Error(head));
    missing = Number(/content-length: (\d+)/i.exec(head)?.[1]) - (bytes.length - end - 4);
    return missing;
  };
}

/** Opens a WebSocket; all bytes after the handshake are echoes. */
async function open(n: number): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ port: load.port, host: "127.0.0.1", noDelay: true });
  socket.write(
    `GET /ws HTTP/1.1\r\n${client(n)}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  socket.once("data", (chunk) =>
    chunk.toString("latin1").startsWith("HTTP/1.1 101") ? resolve(socket) : reject(new Error(chunk.toString("latin1"))),
  );
  socket.on("error", reject);
  return promise;
}

async function echoes(): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: load.sockets }, (_, n) => open(n)));
  const from = performance.now();
  stopAt = from + load.forMs;
  await Promise.all(sockets.map(echo));
  report(performance.now() - from);
}

function echo(socket: Socket): Promise<void> {
  let missing = message.length;
  let sentAt = performance.now();
  socket.on("data", (chunk: Buffer) => {
    missing -= chunk.length;
    if (missing > 0) return;
    const now = performance.now();
    latenciesMs.push(now - sentAt);
    count += 1;
    missing = message.length;
    if (now >= stopAt) return void socket.destroy();
    sentAt = now;
    socket.write(message);
  });
  socket.write(message);
  return new Promise((resolve) => socket.on("close", () => resolve()));
}

/** Opens WebSockets by the hundred and resets them. */
async function resets(): Promise<void> {
  const from = performance.now();
  for (; count < load.sockets; count += 100) {
    for (const socket of await Promise.all(Array.from({ length: 100 }, (_, n) => open(n)))) socket.resetAndDestroy();
  }
  report(performance.now() - from);
}

function report(tookMs: number): void {
  latenciesMs.sort((a, b) => a - b);
  const reached: Reached = {
    perSecond: (count / tookMs) * 1000,
    p99Ms: latenciesMs[Math.floor(latenciesMs.length * 0.99)] ?? 0,
    count,
  };
  console.log(JSON.stringify(reached));
}
