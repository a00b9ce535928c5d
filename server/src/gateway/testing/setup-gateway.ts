import { randomBytes } from "node:crypto";
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from "node:http";
import { type AddressInfo, connect, type Server as NetServer, type Socket } from "node:net";
import { portLabel } from "@berth/contract";
import { onTestFinished } from "vitest";
import { openChanges } from "../../database/changes.ts";
import type { Db } from "../../database/database.ts";
import { testDatabase } from "../../database/testing.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { createGateway, type GatewayDeps, serverOptions } from "../gateway.ts";
import { type Fields, insertCode, insertEnvironment, type Row } from "./insert-environment.ts";

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Given {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

/** A gateway on a real server with a real database, and a client for it. */
export async function setupGateway(options: Partial<GatewayDeps> = {}) {
  const database = await testDatabase();
  const { db } = database;
  await db.insertInto("hosts").values({ id: "local", kind: "fake" }).execute();
  const { log, errors: failures } = recordLog();
  const server = createServer(serverOptions);
  const port = await listen(server);
  const appUrl = options.appUrl ?? `http://localhost:${port}`;
  const common = { db, appUrl, envHost: "localhost", secret: randomBytes(32), trustProxy: () => false, log };
  const { listen: hear } = database;
  const deps: GatewayDeps = { ...common, listen: hear, changes: await openChanges(database), ...options };
  onTestFinished(() => database.close());
  const gateway = await serve(server, deps);

  /** One more gateway to the same environments, under the same names. */
  async function beside(others: Partial<GatewayDeps> = {}) {
    const second = createServer(serverOptions);
    const secondPort = await listen(second);
    await serve(second, { ...deps, changes: await openChanges(database), ...others });
    return clientOf(secondPort);
  }

  return { ...browserOf(db, port), beside, db, database, gateway, port, appUrl, failures };
}

function clientOf(port: number) {
  return {
    ask: (host: string, path: string, given: Given = {}) => send(port, host, path, given),
    open: (text: string) => rawSocket(port, text),
  };
}

/** Rows of environments, and sign-ins to them. */
function browserOf(db: Db, port: number) {
  const { ask, open } = clientOf(port);
  const hostOf = ({ subdomain }: Pick<Row, "subdomain">) => `${subdomain}.localhost:${port}`;
  const codeFor = (row: Row, session: string | null = null, visit?: string, inside?: number) =>
    insertCode(db, row, session, visit, inside);
  const portHostOf = (row: Row, inside: number) => `${portLabel(inside, row.subdomain)}.localhost:${port}`;

  /** The cookie after a sign-in by the owner, at the host of a port inside if one is given. */
  async function signedIn(row: Row, session: string | null = null, inside?: number): Promise<string> {
    await poll(() => ask(hostOf(row), "/").then(({ status }) => status !== 404));
    const code = await codeFor(row, session, undefined, inside);
    const host = inside === undefined ? hostOf(row) : portHostOf(row, inside);
    const reply = await ask(host, `/_berth/sign-in?code=${code}&path=/lab&cleared=1`);
    const cookie = reply.headers["set-cookie"]?.[0]?.split(";")[0];
    if (!cookie) throw new Error(`not signed in: ${reply.status} ${reply.body}`);
    return cookie;
  }

  return {
    ask,
    open,
    hostOf,
    portHostOf,
    codeFor,
    signedIn,
    environment: (fields: Fields = {}) => insertEnvironment(db, fields),
  };
}

async function serve(server: Server, deps: GatewayDeps) {
  const gateway = await createGateway(deps);
  server.on("request", gateway.onRequest).on("upgrade", gateway.onUpgrade).on("clientError", gateway.onClientError);
  onTestFinished(async () => {
    await gateway.close();
    server.closeAllConnections();
    server.close();
  });
  return gateway;
}

function send(port: number, host: string, path: string, given: Given): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const request = httpRequest(
    {
      host: "127.0.0.1",
      port,
      path,
      method: given.method ?? "GET",
      agent: false,
      headers: { host, ...given.headers },
    },
    (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (piece) => {
        body += piece;
      });
      response
        .on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }))
        .on("error", reject);
    },
  );
  request.on("error", reject).end(given.body);
  return promise;
}

/** A real upstream; `sockets` are the connections it has open. */
export async function upstreamServer(listener: RequestListener) {
  const server = createServer(listener);
  return { server, ...(await openUpstream(server)) };
}

/** The same for any TCP server. */
export async function openUpstream(server: NetServer | Server) {
  const sockets = track(server);
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port, sockets };
}

export function track(server: NetServer | Server): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  return sockets;
}

export async function listen(server: NetServer | Server): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return (server.address() as AddressInfo).port;
}

/** A socket to the gateway that has sent `text`; `received()` is the response so far. */
function rawSocket(port: number, text: string) {
  const socket = connect(port, "127.0.0.1");
  let output = "";
  socket.on("data", (chunk) => {
    output += chunk.toString("latin1");
  });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.on("error", () => {});
  socket.write(text, "latin1");
  onTestFinished(() => void socket.destroy());
  return { socket, received: () => output, closed };
}

export async function poll(met: () => boolean | Promise<boolean>, limitMs = 5000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await met())) {
    if (Date.now() > end) throw new Error("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
