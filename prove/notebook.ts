import { randomBytes } from "node:crypto";
import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { must } from "../testing/customer.ts";

/** The address of an environment, and its token (G40). */
export interface EnvironmentAddress {
  readonly port: number;
  readonly subdomain: string;
  readonly token: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly timeoutMs?: number;
}

/** One request to an environment's host; `headers` may replace the token. */
export async function ask(
  { port, subdomain, token }: EnvironmentAddress,
  path: string,
  options: RequestOptions = {},
): Promise<Reply> {
  const headers = {
    host: `${subdomain}.localhost:${port}`,
    ...(token && { authorization: `token ${token}` }),
    ...(options.body !== undefined && { "content-type": "application/json" }),
    ...options.headers,
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request({ host: "127.0.0.1", port, path, method: options.method ?? "GET", headers, agent: false });
  sent.setTimeout(options.timeoutMs ?? 30_000, () => sent.destroy(new Error(`timeout on ${path}`)));
  sent.on("response", resolve).on("error", reject);
  sent.end(options.body === undefined ? undefined : JSON.stringify(options.body));
  const response = await promise;
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

/** Opens a WebSocket; returns its socket, or the HTTP status if refused. */
export async function upgrade(
  { port, subdomain, token }: EnvironmentAddress,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Socket | number> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket | number>();
  const sent = request({
    ...{ host: "127.0.0.1", port, path, agent: false },
    headers: {
      host: `${subdomain}.localhost:${port}`,
      ...(token && { authorization: `token ${token}` }),
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
      ...headers,
    },
  });
  sent.on("upgrade", (_, socket: Socket) => resolve(socket.on("error", () => {})));
  sent.on("response", (response) => {
    response.resume();
    resolve(response.statusCode ?? 0);
  });
  sent.on("error", reject).end();
  return promise;
}

/** Runs cells and returns their output. */
export interface Notebook {
  /** The kernel's id. */
  readonly kernel: string;
  /** Resolves when the socket has ended. */
  readonly closed: Promise<void>;
  run(code: string): Promise<string>;
  close(): void;
}

/** Connects to a kernel of a running environment, by default a new one. */
export async function openNotebook(address: EnvironmentAddress, kernel?: string): Promise<Notebook> {
  const id = kernel ?? (await startKernel(address));
  const socket = await upgrade(address, `/api/kernels/${id}/channels`);
  if (typeof socket === "number") throw new Error(`no socket to the kernel: ${socket}`);
  const cells = new Map<string, { printed: string; done: PromiseWithResolvers<string> }>();
  readText(socket, (message) => {
    const { parent_header, msg_type, content } = JSON.parse(message);
    const cell = cells.get(parent_header?.msg_id);
    if (!cell) return;
    if (msg_type === "stream") cell.printed += content.text;
    if (msg_type === "error") cell.printed += `${content.ename}: ${content.evalue}`;
    if (msg_type === "status" && content.execution_state === "idle") cell.done.resolve(cell.printed);
  });
  const closed = Promise.withResolvers<void>();
  socket.on("close", () => {
    closed.resolve();
    for (const { done } of cells.values()) done.reject(new Error("the kernel's socket closed"));
  });
  return {
    kernel: id,
    closed: closed.promise,
    run(code) {
      const msg_id = randomBytes(8).toString("hex");
      const cell = { printed: "", done: Promise.withResolvers<string>() };
      cells.set(msg_id, cell);
      socket.write(frame(Buffer.from(JSON.stringify(executeRequest(msg_id, code))), opcodes.text));
      return cell.done.promise.finally(() => cells.delete(msg_id));
    },
    close: () => void socket.destroy(),
  };
}

async function startKernel(address: EnvironmentAddress): Promise<string> {
  const started = await ask(address, "/api/kernels", { method: "POST", body: { name: "python3" } });
  if (started.status !== 201) throw new Error(`no kernel: ${started.status} ${started.body}`);
  return JSON.parse(started.body).id;
}

function executeRequest(msg_id: string, code: string) {
  return {
    header: { msg_id, session: msg_id, username: "", msg_type: "execute_request", version: "5.3" },
    parent_header: {},
    metadata: {},
    channel: "shell",
    content: { code, silent: false, store_history: false, user_expressions: {}, allow_stdin: false },
  };
}

const opcodes = { text: 1, ping: 9, pong: 10 };

/** A masked frame (RFC 6455 section 5.2); the mask is zero. */
function frame(body: Buffer, opcode: number): Buffer {
  const isShort = body.length < 126;
  const head = Buffer.alloc(isShort ? 6 : 8);
  head[0] = 0x80 | opcode;
  head[1] = 0x80 | (isShort ? body.length : 126);
  if (!isShort) head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}

/** Calls back with whole text messages, joined from their fragments, and answers pings: JupyterLab closes who does not. */
function readText(socket: Socket, onMessage: (text: string) => void): void {
  let waiting = Buffer.alloc(0);
  let message = "";
  socket.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk]);
    for (
      let length = lengthOf(waiting);
      length !== undefined && waiting.length >= length.end;
      length = lengthOf(waiting)
    ) {
      const [first = 0] = waiting;
      const opcode = first & 0x0f;
      if (opcode === opcodes.ping) socket.write(frame(waiting.subarray(length.start, length.end), opcodes.pong));
      if (opcode <= 2) message += waiting.toString("utf8", length.start, length.end);
      if (opcode <= 2 && first & 0x80) {
        onMessage(message);
        message = "";
      }
      waiting = waiting.subarray(length.end);
    }
  });
}

/** Start and end of the first frame's body; undefined while its header is incomplete. */
function lengthOf(bytes: Buffer): { readonly start: number; readonly end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  return { start, end: start + length };
}

/** The address of a customer's environment. */
export async function addressOf(
  { url, port }: { readonly url: string; readonly port: number },
  idToken: string,
  environmentId: string,
): Promise<EnvironmentAddress> {
  const { environment } = await must(url, "GET", `/environments/${environmentId}`, { token: idToken });
  return { port, subdomain: environment.subdomain, token: environment.jupyter_token };
}
