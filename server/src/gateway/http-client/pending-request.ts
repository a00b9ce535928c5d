import type { Socket } from "node:net";
import type { ResponseHandler } from "./response-reader.ts";
import type { UpstreamError } from "./upstream-error.ts";

export interface OutgoingRequest {
  /** Request line and fields, serialized, with the empty line. */
  readonly head: string;
  /** HEAD: the response has no body, whatever its fields claim. */
  readonly isHead: boolean;
  /** The caller writes a body after the head and ends it with `endBody`. */
  readonly hasBody: boolean;
  /** Idempotent: may be retried, so it may use an idle connection that the peer may have closed. */
  readonly isRepeatable: boolean;
}

/** Gets the response, or exactly one `onError`. */
export interface ExchangeHandler extends ResponseHandler {
  onError(error: UpstreamError): void;
  /** Writing the body may resume. */
  onDrain(): void;
}

/** The connection as its request sees it. */
export interface Carrier {
  readonly socket: Socket;
  pending: PendingRequest | undefined;
}

/** One request and its response. Its functions are no-ops after its end. */
export interface PendingRequest {
  readonly request: OutgoingRequest;
  readonly handler: ExchangeHandler;
  /** Undefined after its end. */
  connection: Carrier | undefined;
  isBodySent: boolean;
  /** Sent on a pooled connection. */
  isReused: boolean;
}

/** Returns false when the caller has to wait for `onDrain`. */
export function writeBody({ connection }: PendingRequest, chunk: Buffer | string): boolean {
  return connection?.socket.write(chunk) ?? true;
}

export function endBody(pending: PendingRequest): void {
  pending.isBodySent = true;
}

export function pauseResponse({ connection }: PendingRequest): void {
  connection?.socket.pause();
}

export function resumeResponse({ connection }: PendingRequest): void {
  connection?.socket.resume();
}

/** The handler is not called again. */
export function abort(pending: PendingRequest): void {
  const { connection } = pending;
  if (!connection) return;
  pending.connection = undefined;
  connection.pending = undefined;
  connection.socket.destroy();
}
