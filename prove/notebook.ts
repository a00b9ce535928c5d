import { randomBytes } from "node:crypto";
import { type IncomingMessage, request } from "node:http";
import type { Socket } from "node:net";
import { text } from "node:stream/consumers";
import { must } from "../testing/customer.ts";

/** Where an environment answers, and the token that opens it (G40). */
export interface Door {
  readonly port: number;
  readonly subdomain: string;
  readonly token: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

interface Given {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** One request at an environment's own host; `headers` may replace the token. */
export async function ask({ port, subdomain, token }: Door, path: string, given: Given = {}): Promise<Reply> {
  const headers = {
    host: `${subdomain}.localhost:${port}`,
    ...(token && { authorization: `token ${token}` }),
    ...(given.body !== undefined && { "content-type": "application/json" }),
    ...given.headers,
  };
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const sent = request({ host: "127.0.0.1", port, path, method: given.method ?? "GET", headers, agent: false });
  sent.setTimeout(30_000, () => sent.destroy(new Error(`${path} did not answer`)));
  sent.on("response", resolve).on("error", reject);
  sent.end(given.body === undefined ? undefined : JSON.stringify(given.body));
  const response = await promise;
  return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
}

/** Opens a WebSocket at an environment; answers its socket, or the status of the refusal. */
export async function upgrade(
  { port, subdomain, token }: Door,
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

/** What an attacker's cell printed. */
export interface Notebook {
  run(code: string): Promise<string>;
  close(): void;
}

/** A kernel of a running environment, whose cells run whatever a tenant may run. */
export async function openNotebook(door: Door): Promise<Notebook> {
  const started = await ask(door, "/api/kernels", { method: "POST", body: { name: "python3" } });
  if (started.status !== 201) throw new Error(`no kernel: ${started.status} ${started.body}`);
  const { id } = JSON.parse(started.body) as { id: string };
  const socket = await upgrade(door, `/api/kernels/${id}/channels`);
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
  socket.on("close", () => {
    for (const { done } of cells.values()) done.reject(new Error("the kernel's socket closed"));
  });
  return {
    run(code) {
      const msg_id = randomBytes(8).toString("hex");
      const cell = { printed: "", done: Promise.withResolvers<string>() };
      cells.set(msg_id, cell);
      socket.write(frame(JSON.stringify(executeRequest(msg_id, code))));
      return cell.done.promise.finally(() => cells.delete(msg_id));
    },
    close: () => void socket.destroy(),
  };
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

/** A masked text frame (RFC 6455 section 5.2); the mask is zero. */
function frame(message: string): Buffer {
  const body = Buffer.from(message);
  const head = Buffer.alloc(8);
  head[0] = 0x81;
  head[1] = 0x80 | 126;
  head.writeUInt16BE(body.length, 2);
  return Buffer.concat([head, body]);
}

/** Whole text messages; a fragment of one is joined to what follows. */
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
      if (opcode <= 2) message += waiting.toString("utf8", length.start, length.end);
      if (opcode <= 2 && first & 0x80) {
        onMessage(message);
        message = "";
      }
      waiting = waiting.subarray(length.end);
    }
  });
}

/** Where the body of the first frame begins and ends; undefined while its head is incomplete. */
function lengthOf(bytes: Buffer): { readonly start: number; readonly end: number } | undefined {
  if (bytes.length < 2) return undefined;
  const short = (bytes[1] ?? 0) & 0x7f;
  const start = short === 127 ? 10 : short === 126 ? 4 : 2;
  if (bytes.length < start) return undefined;
  const length = short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short;
  return { start, end: start + length };
}

/** The door of a customer's newest environment of this name. */
export async function doorOf(
  { url, port }: { readonly url: string; readonly port: number },
  idToken: string,
  environmentId: string,
): Promise<Door> {
  const { environment } = await must(url, "GET", `/environments/${environmentId}`, { token: idToken });
  return { port, subdomain: environment.subdomain, token: environment.jupyter_token };
}
