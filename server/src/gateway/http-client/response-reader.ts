import { type ChunkDecoder, createChunkDecoder, decodeChunks } from "./chunk-decoder.ts";
import { parseResponseHead, type ResponseHead } from "./response-head.ts";
import { UpstreamError } from "./upstream-error.ts";

/** Gets one response in this order: head, body chunks, end. */
export interface ResponseHandler {
  /** `isBodyAtHand`: the first body bytes, or the end, follow in the same turn of the event loop. */
  onHead(head: ResponseHead, isBodyAtHand: boolean): void;
  /**
   * `isLast`: known to be the end of the body, so that it can be sent with the end of the response. Returns whether the
   * buffer is still in use; otherwise it is overwritten after the call.
   */
  onData(piece: Buffer, isLast: boolean): boolean;
  onEnd(): void;
}

/** Reads the responses of one connection, one at a time: `expectResponse`, then `readResponse` until it is done. */
export interface ResponseReader {
  handler: ResponseHandler;
  isHead: boolean;
  head: ResponseHead | undefined;
  /** Bytes of an incomplete head. */
  pending: Buffer | undefined;
  /** Bytes left of a body with a Content-Length. */
  remaining: number;
  /** The handler still uses the buffer of the last read. */
  isKept: boolean;
  readonly decoder: ChunkDecoder;
}

const maxHeadBytes = 64 * 1024;
const headEnd = Buffer.from("\r\n\r\n");
const nobody: ResponseHandler = { onHead() {}, onData: () => false, onEnd() {} };

export function createResponseReader(): ResponseReader {
  return {
    handler: nobody,
    isHead: false,
    head: undefined,
    pending: undefined,
    remaining: 0,
    isKept: false,
    decoder: createChunkDecoder(),
  };
}

/** `isHead`: the request was a HEAD. */
export function expectResponse(reader: ResponseReader, handler: ResponseHandler, isHead: boolean): void {
  reader.handler = handler;
  reader.isHead = isHead;
  reader.head = undefined;
  reader.pending = undefined;
}

/** "surplus": done, with unsolicited bytes after the end. Throws UpstreamError. */
export function readResponse(reader: ResponseReader, chunk: Buffer): "more" | "done" | "surplus" {
  let bytes = chunk;
  let at = 0;
  reader.isKept = false;
  if (!reader.head) {
    if (reader.pending) bytes = Buffer.concat([reader.pending, chunk]);
    reader.pending = undefined;
    at = readHead(reader, bytes);
    if (!reader.head) return "more";
  }
  const end = readBody(reader, bytes, at, reader.head.framing.kind);
  if (end === -1) return "more";
  reader.handler.onEnd();
  return end < bytes.length ? "surplus" : "done";
}

/** Called when the connection ends. True for a body that is delimited by it; otherwise the response is truncated. */
export function endsHere({ head, handler }: ResponseReader): boolean {
  if (head?.framing.kind !== "until_close") return false;
  handler.onEnd();
  return true;
}

export function hasStarted({ head, pending }: ResponseReader): boolean {
  return head !== undefined || pending !== undefined;
}

/** Emits the head once it is complete. Returns the index of the body's first byte. */
function readHead(reader: ResponseReader, bytes: Buffer): number {
  const { head, at } = finalHead(bytes, reader.isHead);
  reader.head = head;
  if (!head) {
    reader.pending = Buffer.from(bytes.subarray(at));
    return at;
  }
  const { framing } = head;
  reader.remaining = framing.kind === "length" ? framing.bytes : 0;
  const isEmpty = framing.kind === "none" || (framing.kind === "length" && framing.bytes === 0);
  reader.handler.onHead(head, at < bytes.length || isEmpty);
  return at;
}

/**
 * The head and the index after it; without a head, the start of the incomplete one. Skips interim (1xx) responses, which
 * no forwarded request asks for.
 */
function finalHead(bytes: Buffer, isHead: boolean): { readonly head: ResponseHead | undefined; readonly at: number } {
  for (let at = 0; ; ) {
    const end = bytes.indexOf(headEnd, at);
    if ((end === -1 ? bytes.length : end) - at > maxHeadBytes) throw new UpstreamError("the head is too long");
    if (end === -1) return { head: undefined, at };
    const head = parseResponseHead(bytes.toString("latin1", at, end), isHead);
    at = end + headEnd.length;
    if (head.status === 101) throw new UpstreamError("it switched protocols unasked");
    if (head.status >= 200) return { head, at };
  }
}

/** Returns the index after the body's end, or -1. */
function readBody(reader: ResponseReader, bytes: Buffer, at: number, kind: ResponseHead["framing"]["kind"]): number {
  if (kind === "none") return at;
  if (kind === "chunked") return readChunks(reader, bytes, at);
  const hasLength = kind === "length";
  const end = hasLength ? Math.min(bytes.length, at + reader.remaining) : bytes.length;
  reader.remaining -= end - at;
  const isLast = hasLength && reader.remaining === 0;
  if (end > at) reader.isKept = reader.handler.onData(bytes.subarray(at, end), isLast);
  return isLast ? end : -1;
}

function readChunks(reader: ResponseReader, bytes: Buffer, at: number): number {
  return decodeChunks(reader.decoder, bytes, at, (piece) => {
    if (reader.handler.onData(piece, false)) reader.isKept = true;
  });
}
