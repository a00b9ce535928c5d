import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Endpoint } from "../../drivers/driver.ts";
import { openSocket } from "../http-client/connection-pool.ts";
import { parseResponseHead } from "../http-client/response-head.ts";
import { refuseUpgrade } from "../refusals/refuse.ts";
import type { Exchange } from "./forward.ts";

const longestHead = 64 * 1024;
/** What a browser may send before the answer; it normally sends nothing. */
const mostEarly = 64 * 1024;
/** Of one read: messages are small, and thousands of sockets that each read into pages of their own cost the processor's caches. */
const messageBytes = 16 * 1024;
/** After one side ended, the other has this long to take what is on its way. */
const lastBytesMs = 2000;
const notAnswering = { status: 502, code: "not_answering", title: "This environment does not answer" };

/**
 * A WebSocket's two sockets as one: bytes pass both ways with back-pressure, and the end of either is the end of the
 * other, also while the environment is still connecting. `moved` hears of the bytes; `closed` runs once, when the browser's side
 * is gone.
 */
export function tunnel(
  client: Duplex,
  early: Buffer,
  endpoint: Endpoint,
  head: string,
  { moved, closed }: { readonly moved: (bytes: number) => void; readonly closed: () => void },
): Exchange {
  let open = false;
  let ending = false;
  const handshake = createHandshake();
  const upstream = openSocket(endpoint, messageBytes, () => upstream.write(head, "latin1"), take);
  tune(client);

  function destroy(): void {
    upstream.destroy();
    client.destroy();
  }

  function end(): void {
    if (ending) return;
    ending = true;
    endSoon(upstream, client);
  }

  function refuse(status: number): void {
    if (ending) return;
    ending = true;
    upstream.destroy();
    refuseUpgrade(
      client,
      status >= 400 ? { status, code: "refused", title: "The environment refused the connection" } : notAnswering,
    );
  }

  function join(head: string, rest: Buffer): void {
    open = true;
    client.write(head, "latin1");
    if (rest.length > 0) client.write(rest);
    if (early.length > 0) upstream.write(early);
    early = Buffer.alloc(0);
    client.resume();
  }

  /** Answers whether the bytes are still on their way. */
  function take(bytes: Buffer): boolean {
    if (open) {
      moved(bytes.length);
      client.write(bytes);
      if (isFull(client)) upstream.pause();
      return client.writableLength > 0;
    }
    const answer = handshake(bytes);
    if (answer && "head" in answer) join(answer.head, answer.rest);
    else if (answer) refuse(answer.status);
    return true;
  }

  client.on("data", (chunk: Buffer) => {
    moved(chunk.length);
    if (open) upstream.write(chunk);
    else early = Buffer.concat([early, chunk]);
    if (open ? isFull(upstream) : early.length > mostEarly) client.pause();
  });
  resumeOnDrain(upstream, client);
  client.on("error", destroy);
  upstream.on("error", () => (open ? destroy() : refuse(502)));
  client.on("end", end);
  upstream.on("end", () => (open ? end() : refuse(502)));
  upstream.on("close", end);
  client.on("close", () => {
    upstream.destroy();
    closed();
  });
  client.resume();
  return { destroy };
}

/** Lets the last bytes (a close frame) reach the other side, but not for ever. */
function endSoon(upstream: Duplex, client: Duplex): void {
  upstream.end();
  client.end();
  const limit = setTimeout(() => {
    upstream.destroy();
    client.destroy();
  }, lastBytesMs);
  client.once("close", () => clearTimeout(limit));
}

/** A quiet notebook may be quiet for days; a vanished one is noticed. */
function tune(client: Duplex): void {
  if (!(client instanceof Socket)) return;
  client.setTimeout(0);
  client.setNoDelay(true);
  client.setKeepAlive(true, 30_000);
}

/** A large piece asks for a pause although the kernel took all of it at once: then there is nothing to wait for. */
function isFull(to: Duplex): boolean {
  return to.writableNeedDrain && to.writableLength > 0;
}

function resumeOnDrain(one: Duplex, other: Duplex): void {
  one.on("drain", () => other.resume());
  other.on("drain", () => one.resume());
}

type Answer = { readonly status: 101; readonly head: string; readonly rest: Buffer } | { readonly status: number };

/** Collects the environment's answer to the handshake; undefined while it is incomplete, 502 when it is none. */
function createHandshake() {
  let bytes: Buffer = Buffer.alloc(0);
  return (chunk: Buffer): Answer | undefined => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    const end = bytes.indexOf("\r\n\r\n");
    if (end === -1) return bytes.length <= longestHead ? undefined : { status: 502 };
    try {
      const { status, headers } = parseResponseHead(bytes.toString("latin1", 0, end), { noBody: true });
      return status === 101 ? { status, head: switched(headers), rest: bytes.subarray(end + 4) } : { status };
    } catch {
      return { status: 502 };
    }
  };
}

function switched(headers: readonly string[]): string {
  let text = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
  for (let i = 0; i < headers.length; i += 2) text += `${headers[i]}: ${headers[i + 1]}\r\n`;
  return `${text}\r\n`;
}
