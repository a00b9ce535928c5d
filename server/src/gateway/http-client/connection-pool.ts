import { connect, type Socket } from "node:net";
import type { Endpoint } from "../../drivers/driver.ts";
import { atTurnEnd } from "./at-turn-end.ts";
import { createResponseReader, type ResponseSink } from "./response-reader.ts";
import { UpstreamError } from "./upstream-error.ts";

const connectLimitMs = 2000;
/** Jupyter keeps idle connections an hour, small servers five seconds: below both, so that we close first. */
const idleMs = 4000;
const mostIdle = 256;
/** Above what an environment answers at once, so that one read takes it. Pages that no answer reaches cost nothing. */
const answerBytes = 128 * 1024;

/** Who made a request hears its answer, or exactly one `failed`. */
export interface ExchangeSink extends ResponseSink {
  /** `stale`: the connection was an idle one and nothing came back, so the other side had closed it meanwhile. */
  failed(error: UpstreamError, stale: boolean): void;
  /** The body may go on. */
  drained(): void;
}

interface UpstreamRequest {
  /** Request line and fields, serialised, with the empty line. */
  readonly head: string;
  /** HEAD: the answer has no body whatever its fields say. */
  readonly noBody: boolean;
  /** The caller sends a body from now on, which the head must not come after, and ends it with `bodySent`. */
  readonly hasBody: boolean;
  /** Not an idle connection: for what must not be sent twice, and for a second try. */
  readonly fresh: boolean;
}

/** One connection. Every call but `send` names the sink it acts for, and does nothing once another request has the line. */
export interface Connection {
  write(sink: ExchangeSink, chunk: Buffer | string): boolean;
  bodySent(sink: ExchangeSink): void;
  pause(sink: ExchangeSink): void;
  resume(sink: ExchangeSink): void;
  abort(sink: ExchangeSink): void;
}

interface Line extends Connection {
  idleSince: number;
  begin(request: UpstreamRequest, sink: ExchangeSink, reused: boolean): void;
  destroy(): void;
}

/** The keep-alive connections of one run of one environment; never shared with another. */
export interface ConnectionPool {
  send(request: UpstreamRequest, sink: ExchangeSink): Connection;
  /** Closes what has been idle too long. */
  sweep(): void;
  /** Closes every connection, in use or not. */
  close(): void;
  readonly sockets: number;
  /** When the run first gave no answer, in the database's time; undefined since it has answered. For whoever asks it. */
  silentSinceMs: number | undefined;
}

/**
 * `take` gets what arrives, in a buffer of `readBytes` that the next read overwrites, unless it answers true: still needed.
 * A buffer for each read costs more than all the rest of a small answer, and the collection of large ones a whole thread.
 */
export function openSocket(
  endpoint: Endpoint,
  readBytes: number,
  connected: () => void,
  take: (bytes: Buffer) => boolean,
): Socket {
  let space = Buffer.allocUnsafeSlow(readBytes);
  const onread = {
    buffer: () => space,
    callback(length: number) {
      if (take(space.subarray(0, length))) space = Buffer.allocUnsafeSlow(readBytes);
      return true;
    },
  };
  const socket = connect(
    "socketPath" in endpoint
      ? { path: endpoint.socketPath, onread }
      : { ...endpoint, noDelay: true, keepAlive: true, onread },
  );
  const limit = setTimeout(() => socket.destroy(new UpstreamError("no connection within 2 s")), connectLimitMs);
  socket.once("connect", () => {
    clearTimeout(limit);
    connected();
  });
  socket.once("close", () => clearTimeout(limit));
  return socket;
}

export function createConnectionPool(endpoint: Endpoint): ConnectionPool {
  const idle: Line[] = [];
  const all = new Set<Line>();

  function open(): Line {
    const line = openLine(endpoint, release, closed);
    all.add(line);
    return line;
  }

  function release(line: Line): void {
    line.idleSince = performance.now();
    if (idle.push(line) > mostIdle) idle.shift()?.destroy();
  }

  function closed(line: Line): void {
    all.delete(line);
    const at = idle.indexOf(line);
    if (at !== -1) idle.splice(at, 1);
  }

  return {
    silentSinceMs: undefined,
    send(request, sink) {
      const reused = request.fresh ? undefined : idle.pop();
      const line = reused ?? open();
      line.begin(request, sink, reused !== undefined);
      return line;
    },
    sweep() {
      const before = performance.now() - idleMs;
      for (const line of idle.filter(({ idleSince }) => idleSince < before)) line.destroy();
    },
    close() {
      for (const line of [...all]) line.destroy();
    },
    get sockets() {
      return all.size;
    },
  };
}

function openLine(endpoint: Endpoint, release: (line: Line) => void, closed: (line: Line) => void): Line {
  const reader = createResponseReader();
  let sink: ExchangeSink | undefined;
  let reused = false;
  let sent = false;
  const socket = openSocket(endpoint, answerBytes, () => {}, take);

  function finish(clean: boolean): void {
    sink = undefined;
    if (!clean || !sent || !reader.keepsAlive() || socket.destroyed) return void socket.destroy();
    // The last piece may have asked for a pause; an idle connection must hear that it is closed.
    if (socket.isPaused()) socket.resume();
    release(line);
  }

  function fail(error: unknown): void {
    const waiting = sink;
    sink = undefined;
    socket.destroy();
    const known = error instanceof UpstreamError ? error : new UpstreamError("the connection broke", { cause: error });
    waiting?.failed(known, reused && !reader.hasStarted());
  }

  function take(bytes: Buffer): boolean {
    if (!sink) {
      socket.destroy();
      return false;
    }
    try {
      const state = reader.read(bytes);
      if (state !== "more" && sink) finish(state === "done");
    } catch (error) {
      fail(error);
    }
    return reader.isKept();
  }

  socket.on("end", () => {
    if (sink && reader.endsHere()) finish(false);
  });
  socket.on("error", fail);
  socket.on("drain", () => sink?.drained());
  socket.on("close", () => {
    closed(line);
    fail(new UpstreamError("the connection ended before the answer did"));
  });

  const line: Line = {
    idleSince: 0,
    begin(request, next, again) {
      sink = next;
      reused = again;
      sent = !request.hasBody;
      reader.expect(next, request);
      if (request.hasBody) socket.write(request.head, "latin1");
      else atTurnEnd(() => next === sink && socket.write(request.head, "latin1"));
    },
    write: (from, chunk) => from !== sink || socket.write(chunk),
    bodySent(from) {
      if (from === sink) sent = true;
    },
    pause(from) {
      if (from === sink) socket.pause();
    },
    resume(from) {
      if (from === sink) socket.resume();
    },
    abort(from) {
      if (from !== sink) return;
      sink = undefined;
      socket.destroy();
    },
    destroy: () => void socket.destroy(),
  };
  return line;
}
