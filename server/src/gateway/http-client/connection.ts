import { atTurnEnd } from "./at-turn-end.ts";
import type { Dial } from "./open-socket.ts";
import type { Carrier, PendingRequest } from "./pending-request.ts";
import {
  createResponseReader,
  endsHere,
  expectResponse,
  hasStarted,
  type ResponseReader,
  readResponse,
} from "./response-reader.ts";
import { UpstreamError } from "./upstream-error.ts";

/** Larger than most responses, so that one read takes them whole. Untouched memory pages cost nothing. */
const readBytes = 128 * 1024;

export interface ConnectionOwner {
  /** The response is complete and the connection is reusable. */
  onIdle(connection: Connection): void;
  onClose(connection: Connection): void;
  /** The peer had closed the idle connection before the request arrived; no response byte was received. */
  onStale(pending: PendingRequest): void;
}

/** One connection to an environment, with one request at a time. */
export interface Connection extends Carrier {
  readonly reader: ResponseReader;
  readonly owner: ConnectionOwner;
  idleSinceMs: number;
}

export function openConnection(dial: Dial, owner: ConnectionOwner): Connection {
  const socket = dial(
    readBytes,
    () => {},
    (bytes) => receive(connection, bytes),
  );
  const connection: Connection = {
    socket,
    reader: createResponseReader(),
    owner,
    pending: undefined,
    idleSinceMs: 0,
  };
  socket.on("end", () => {
    if (connection.pending && endsHere(connection.reader)) finish(connection, false);
  });
  socket.on("error", (error) => fail(connection, error));
  socket.on("drain", () => connection.pending?.handler.onDrain());
  socket.on("close", () => {
    owner.onClose(connection);
    fail(connection, new UpstreamError("the connection ended before the response did"));
  });
  return connection;
}

/** Sends the head, and the response to the handler. */
export function startRequest(connection: Connection, pending: PendingRequest): void {
  const { request, handler } = pending;
  connection.pending = pending;
  pending.connection = connection;
  pending.isBodySent = !request.hasBody;
  expectResponse(connection.reader, handler, request.isHead);
  const send = () => connection.socket.write(request.head, "latin1");
  // A body must not come before the head.
  if (request.hasBody) send();
  else atTurnEnd(() => connection.pending === pending && send());
}

/** Returns whether the bytes are still needed after the call. */
function receive(connection: Connection, bytes: Buffer): boolean {
  const { pending, reader, socket } = connection;
  if (!pending) {
    // Unsolicited bytes.
    socket.destroy();
    return false;
  }
  try {
    const state = readResponse(reader, bytes);
    if (state !== "more" && connection.pending === pending) finish(connection, state === "done");
  } catch (error) {
    fail(connection, error);
  }
  return reader.isKept;
}

function finish(connection: Connection, isClean: boolean): void {
  const { socket, reader, owner } = connection;
  const isBodySent = release(connection)?.isBodySent;
  if (!isClean || !isBodySent || !reader.head?.keepAlive || socket.destroyed) return void socket.destroy();
  // Back-pressure of the last chunk may have paused it; an idle connection must read to detect its close.
  if (socket.isPaused()) socket.resume();
  owner.onIdle(connection);
}

function fail(connection: Connection, cause: unknown): void {
  const pending = release(connection);
  connection.socket.destroy();
  if (!pending) return;
  const isStale = pending.isReused && !hasStarted(connection.reader);
  if (isStale && pending.request.isRepeatable) return void connection.owner.onStale(pending);
  pending.handler.onError(
    cause instanceof UpstreamError ? cause : new UpstreamError("the connection broke", { cause }),
  );
}

function release(connection: Connection): PendingRequest | undefined {
  const { pending } = connection;
  connection.pending = undefined;
  if (pending) pending.connection = undefined;
  return pending;
}
