import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";

/** Files of one home by path; they outlive the server. */
export type FakeFiles = Map<string, string>;

export interface FakeServer {
  readonly socketPath: string;
  /** Open sockets. */
  connections(): number;
  /** Like a frozen process: accepts connections and bytes, and responds to nothing until `resume`. */
  freeze(): void;
  resume(): void;
  close(): Promise<void>;
}

interface Terminal {
  readonly name: string;
  readonly last_activity: string;
}

interface Options {
  readonly socketPath: string;
  readonly token: string;
  readonly files: FakeFiles;
  /** Until then `/lab` and `/api` return 503. */
  readonly answersAt: number;
}

/**
 * The part of JupyterLab that a gateway uses: `/api` is open, everything else needs the token (403, pages 302 to /login),
 * contents and terminals are in memory, `/stream` never ends, and any WebSocket is echoed.
 */
export async function startFakeServer(options: Options): Promise<FakeServer> {
  const sockets = new Set<Duplex>();
  let thaw: PromiseWithResolvers<void> | undefined;
  const terminals: Terminal[] = [];
  const server = createServer(async (request, response) => {
    await thaw?.promise;
    if (Date.now() < options.answersAt) return void response.writeHead(503).end();
    await respond(request, response, options, terminals);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  const echo = new WebSocketServer({ noServer: true });
  server.on("upgrade", async (request, socket, head) => {
    socket.on("error", () => socket.destroy());
    await thaw?.promise;
    if (isAllowed(request, options.token)) return echo.handleUpgrade(request, socket, head, echoAll);
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  });
  await rm(options.socketPath, { force: true });
  server.listen(options.socketPath);
  await once(server, "listening");

  return {
    socketPath: options.socketPath,
    connections: () => sockets.size,
    freeze() {
      thaw ??= Promise.withResolvers();
      for (const webSocket of echo.clients) webSocket.pause();
    },
    resume() {
      thaw?.resolve();
      thaw = undefined;
      for (const webSocket of echo.clients) webSocket.resume();
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      thaw?.resolve();
      await closed;
    },
  };
}

function echoAll(webSocket: WebSocket): void {
  webSocket.on("error", () => webSocket.terminate());
  webSocket.on("message", (data, binary) => webSocket.send(data, { binary }));
}

type Reply = (status: number, body: unknown) => void;

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { token, files }: Options,
  terminals: Terminal[],
): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://fake");
  const json: Reply = (status, body) => {
    const text = JSON.stringify(body);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    response.writeHead(status, headers).end(text);
  };
  if (pathname === "/api") return json(200, { version: "2.18.0" });
  if (isAllowed(request, token)) return respondAllowed(request, response, json, { pathname, files, terminals });
  if (pathname.startsWith("/api/")) return json(403, { message: "Forbidden", reason: null });
  response.writeHead(302, { location: `/login?next=${encodeURIComponent(pathname)}` }).end();
}

async function respondAllowed(
  request: IncomingMessage,
  response: ServerResponse,
  json: Reply,
  { pathname, files, terminals }: { pathname: string; files: FakeFiles; terminals: Terminal[] },
): Promise<void> {
  if (pathname.startsWith("/api/contents/"))
    return contents(request, json, files, decodeURIComponent(pathname.slice(14)));
  switch (pathname) {
    case "/":
    case "/lab":
      response.writeHead(200, { "content-type": "text/html" });
      return void response.end("<!doctype html><title>JupyterLab</title><h1>JupyterLab</h1>");
    case "/api/terminals":
      if (request.method === "POST")
        terminals.push({ name: String(terminals.length + 1), last_activity: new Date().toISOString() });
      return json(200, request.method === "POST" ? terminals.at(-1) : terminals);
    case "/api/kernels":
    case "/api/sessions":
      return json(200, []);
    case "/stream":
      return stream(request, response);
    case "/echo":
      response.setHeader("x-echo-headers", encodeURIComponent(JSON.stringify(request.headers)));
      return void request.pipe(response);
    default:
      json(404, { message: "Not Found" });
  }
}

async function contents(
  request: IncomingMessage,
  json: (status: number, body: unknown) => void,
  files: FakeFiles,
  path: string,
) {
  if (request.method === "PUT") {
    let body = "";
    for await (const chunk of request) body += chunk;
    files.set(path, String(JSON.parse(body).content));
    return json(201, { path });
  }
  const content = files.get(path);
  return content === undefined
    ? json(404, { message: `No such file: ${path}` })
    : json(200, { path, type: "file", format: "text", content });
}

function stream(request: IncomingMessage, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let count = 0;
  const send = () => response.write(`data: ${++count}\n\n`);
  send();
  const timer = setInterval(send, 50);
  request.socket.once("close", () => clearInterval(timer));
}

function isAllowed(request: IncomingMessage, token: string): boolean {
  const header = request.headers.authorization?.match(/^(?:token|bearer) (.+)$/i)?.[1];
  const given = Buffer.from(header ?? new URL(request.url ?? "/", "http://fake").searchParams.get("token") ?? "");
  const wanted = Buffer.from(token);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
