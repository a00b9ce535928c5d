import { createHash, randomBytes } from "node:crypto";
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type RequestListener,
  type Server,
} from "node:http";
import { type AddressInfo, connect, type Server as NetServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { openChanges } from "../database/changes.ts";
import type { Db } from "../database/database.ts";
import type { EnvironmentsTable } from "../database/environment-tables.ts";
import { newId } from "../database/ids.ts";
import { testDatabase } from "../database/testing.ts";
import type { Route } from "../environments/targets-source.ts";
import { createGateway, type GatewayParts, serverOptions } from "./gateway.ts";

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Row {
  readonly id: string;
  readonly subdomain: string;
  readonly userId: string;
  readonly secret: string;
  readonly runToken: string;
}

type Fields = Partial<Pick<EnvironmentsTable, "subdomain" | "user_id" | "stage" | "expires_at" | "ended_reason">> & {
  readonly status?: Route["status"];
  readonly desired?: Route["desired"];
  readonly port?: number;
  readonly banked?: number;
};

interface Given {
  readonly method?: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

/** A gateway on a real server with a real database, and what a test needs to speak to it. */
export async function setup(options: Partial<GatewayParts> = {}) {
  const database = await testDatabase();
  const changes = await openChanges(database);
  const { db } = database;
  await db.insertInto("hosts").values({ id: "local", kind: "fake" }).execute();
  const failures: unknown[] = [];
  const server = createServer(serverOptions);
  const port = await listen(server);
  const appUrl = options.appUrl ?? `http://localhost:${port}`;
  const gateway = await createGateway({
    db,
    changes,
    appUrl,
    envHost: "localhost",
    secret: randomBytes(32),
    failed: (error) => failures.push(error),
    ...options,
  });
  server.on("request", gateway.onRequest).on("upgrade", gateway.onUpgrade).on("clientError", gateway.onClientError);
  onTestFinished(async () => {
    await gateway.close();
    server.closeAllConnections();
    server.close();
    await database.close();
  });

  const hostOf = ({ subdomain }: Pick<Row, "subdomain">) => `${subdomain}.localhost:${port}`;

  const ask = (host: string, path: string, given: Given = {}) => send(port, host, path, given);
  const environment = (fields: Fields = {}) => insertEnvironment(db, fields);

  const codeFor = (row: Row, session: string | null = null) => insertCode(db, row, session);

  /** The cookie of a browser that came through the hand-off. */
  async function signedIn(row: Row, session: string | null = null): Promise<string> {
    await poll(() => ask(hostOf(row), "/").then(({ status }) => status !== 404));
    const code = await codeFor(row, session);
    const reply = await ask(hostOf(row), `/_berth/sign-in?code=${code}&path=/lab&cleared=1`);
    const cookie = reply.headers["set-cookie"]?.[0]?.split(";")[0];
    if (!cookie) throw new Error(`not signed in: ${reply.status} ${reply.body}`);
    return cookie;
  }

  return {
    db,
    database,
    gateway,
    port,
    appUrl,
    failures,
    environment,
    hostOf,
    ask,
    codeFor,
    signedIn,
    open: (text: string) => rawSocket(port, text),
  };
}

/** A row in any state; `endpoint` is a port of loopback. */
async function insertCode(db: Db, row: Row, session: string | null): Promise<string> {
  const code = randomBytes(32).toString("base64url");
  const hash = createHash("sha256").update(code).digest();
  await db
    .insertInto("sign_in_codes")
    .values({
      hash,
      user_id: row.userId,
      environment_id: row.id,
      auth_session: session,
      expires_at: new Date(Date.now() + 30_000),
    })
    .execute();
  return code;
}

async function insertEnvironment(db: Db, fields: Fields): Promise<Row> {
  const subdomain = fields.subdomain ?? `n-${newId().slice(0, 12)}`;
  const row: Row = { id: newId(), subdomain, userId: fields.user_id ?? "owner", secret: newId(), runToken: newId() };
  const { status = "active" } = fields;
  const order = newId();
  const soon = new Date(Date.now() + 3_600_000);
  await db
    .insertInto("orders")
    .values({
      id: order,
      user_id: row.userId,
      status: "expired",
      container_type: "jupyter",
      subdomain,
      gpu_count: 1,
      duration_hours: 1,
      usd_minor: 20,
      amount_minor: 20,
      currency: "USD",
      inr_paise_per_usd: 8822,
      gateway: "embedded",
      mode: "embedded",
      request_hash: "",
      hold_until: soon,
      watch_until: soon,
    })
    .execute();
  await db
    .insertInto("environments")
    .values({
      id: row.id,
      order_id: order,
      user_id: row.userId,
      container_type: "jupyter",
      subdomain,
      gpu_count: 1,
      duration_hours: 1,
      host_id: "local",
      home: subdomain,
      status,
      desired: fields.desired ?? (status === "terminated" ? "terminated" : "running"),
      secret: row.secret,
      run_token: fields.port === undefined ? null : row.runToken,
      endpoint: fields.port === undefined ? null : JSON.stringify({ host: "127.0.0.1", port: fields.port }),
      stage: fields.stage ?? null,
      give_up_at: soon,
      expires_at: fields.expires_at ?? null,
      banked_seconds: fields.banked ?? 0,
      terminated_at: status === "terminated" ? new Date() : null,
      ended_reason: fields.ended_reason ?? null,
    })
    .execute();
  return row;
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

/** The same for a server that speaks more, or less, than HTTP. */
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

/** A socket to the gateway that has sent `text`; `heard()` is what came back so far. */
function rawSocket(port: number, text: string) {
  const socket = connect(port, "127.0.0.1");
  let heard = "";
  socket.on("data", (chunk) => {
    heard += chunk.toString("latin1");
  });
  const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
  socket.on("error", () => {});
  socket.write(text, "latin1");
  onTestFinished(() => void socket.destroy());
  return { socket, heard: () => heard, closed };
}

export async function poll(met: () => boolean | Promise<boolean>, limitMs = 5000): Promise<void> {
  const end = Date.now() + limitMs;
  while (!(await met())) {
    if (Date.now() > end) throw new Error("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
