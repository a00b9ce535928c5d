import type { IncomingMessage, ServerResponse } from "node:http";
import { atTurnEnd } from "../http-client/at-turn-end.ts";
import type { Connection, ConnectionPool, ExchangeSink } from "../http-client/connection-pool.ts";
import type { RequestHead } from "./request-head.ts";

/** A body that stops arriving for this long ends the request; answers may be silent for ever. */
const silentBodyMs = 120_000;
/** Up to this a piece is copied into the string of the head, so that both leave in one write. */
const smallBytes = 16 * 1024;
const repeatable = new Set(["GET", "HEAD", "OPTIONS"]);

export interface Exchange {
  /** Ends both sides now. */
  destroy(): void;
}

interface Heard {
  readonly moved: (bytes: number) => void;
  readonly answered: () => void;
  readonly unanswered: () => void;
  readonly closed: () => void;
}

/**
 * Sends one request to its environment and the answer back, as they come: nothing is kept, each side waits for the
 * other. `moved` hears of the bytes of both bodies, `unanswered` renders the page when nothing was sent yet; `closed` runs
 * once, whatever the end.
 */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: ConnectionPool,
  head: RequestHead,
  heard: Heard,
): Exchange {
  let connection: Connection;
  let answered = false;
  let paused = false;
  let ending = false;
  const hasBody = head.body !== "none";
  const mayRepeat = !hasBody && repeatable.has(request.method as string);

  const send = (fresh: boolean) => {
    connection = upstream.send({ head: head.text, noBody: request.method === "HEAD", hasBody, fresh }, sink);
  };
  const sink: ExchangeSink = {
    head({ status, headers }, atHand) {
      heard.answered();
      response.writeHead(status, headers);
      if (!atHand) response.flushHeaders();
    },
    data(piece, last) {
      heard.moved(piece.length);
      const small = piece.length <= smallBytes;
      const copy = small ? piece.toString("latin1") : "";
      if (small && last) {
        ending = true;
        atTurnEnd(() => response.end(copy, "latin1"));
        return false;
      }
      const more = small ? response.write(copy, "latin1") : passNow(response, piece, last);
      const kept = !small && response.socket?.writableLength !== 0;
      if (!more && !paused && (small || kept)) {
        paused = true;
        connection.pause(sink);
        response.once("drain", () => {
          paused = false;
          connection.resume(sink);
        });
      }
      return kept;
    },
    end() {
      answered = true;
      if (!ending && !response.writableEnded) response.end();
    },
    failed(_error, stale) {
      if (stale && mayRepeat && !response.headersSent) return send(true);
      answered = true;
      if (response.headersSent) response.destroy();
      else heard.unanswered();
    },
    drained: () => void request.resume(),
  };

  response.on("close", () => {
    if (!answered) connection.abort(sink);
    heard.closed();
  });
  // What must not be sent twice goes on a connection that cannot have been closed meanwhile.
  send(!mayRepeat);
  if (hasBody)
    sendBody(request, head.body === "chunked", {
      write(chunk) {
        heard.moved(chunk.length);
        return connection.write(sink, chunk);
      },
      end: () => connection.bodySent(sink),
    });
  return {
    destroy() {
      if (!answered) connection.abort(sink);
      request.socket.destroy();
    },
  };
}

/** Head and piece leave in one write before this returns, as far as the kernel takes them. */
function passNow(response: ServerResponse, piece: Buffer, last: boolean): boolean {
  // Null while an earlier answer on the same connection is unfinished.
  const { socket } = response;
  socket?.cork();
  const more = last || response.write(piece);
  if (last) response.end(piece);
  socket?.uncork();
  return more;
}

function sendBody(
  request: IncomingMessage,
  chunked: boolean,
  to: { write: (chunk: Buffer | string) => boolean; end: () => void },
): void {
  request.socket.setTimeout(silentBodyMs);
  request.on("data", (chunk: Buffer) => {
    let more: boolean;
    if (chunked) {
      to.write(`${chunk.length.toString(16)}\r\n`);
      to.write(chunk);
      more = to.write("\r\n");
    } else more = to.write(chunk);
    if (!more) request.pause();
  });
  request.on("end", () => {
    request.socket.setTimeout(0);
    if (chunked) to.write("0\r\n\r\n");
    to.end();
  });
}
