import { createChunkDecoder } from "./chunk-decoder.ts";
import { parseResponseHead, type ResponseHead } from "./response-head.ts";
import { UpstreamError } from "./upstream-error.ts";

/** Who takes one response, in this order: head, any number of data, end. */
export interface ResponseSink {
  /** `atHand`: the first bytes of the body, or its end, follow in the same turn. */
  head(head: ResponseHead, atHand: boolean): void;
  /**
   * `last`: known to be the body's end, so that it can leave together with what ends the answer.
   * Answers whether the piece is still needed; otherwise its bytes are overwritten once the call is over.
   */
  data(piece: Buffer, last: boolean): boolean;
  end(): void;
}

const longestHead = 64 * 1024;
const headEnd = Buffer.from("\r\n\r\n");

/** Reads the responses of one connection, one at a time: `expect`, then `read` until it answers true (complete). */
export function createResponseReader() {
  let sink: ResponseSink;
  let noBody = false;
  let head: ResponseHead | undefined;
  let pending: Buffer | undefined;
  let remaining = 0;
  let kept = false;
  const decode = createChunkDecoder();
  const emit = (piece: Buffer) => {
    if (sink.data(piece, false)) kept = true;
  };

  /** Passes the head on once it is complete. Answers the index of the body's first byte, or -1. */
  function readHead(bytes: Buffer): number {
    const found = finalHead(bytes, noBody);
    if (!found.head) {
      pending = Buffer.from(bytes.subarray(found.at));
      return -1;
    }
    head = found.head;
    remaining = head.framing.kind === "length" ? head.framing.bytes : 0;
    const endless = head.framing.kind === "chunked" || head.framing.kind === "until_close";
    sink.head(head, found.at < bytes.length || (!endless && remaining === 0));
    return found.at;
  }

  /** Answers the index after the body's end, or -1. */
  function readBody(bytes: Buffer, at: number, { kind }: ResponseHead["framing"]): number {
    if (kind === "none") return at;
    if (kind === "chunked") return decode(bytes, at, emit);
    const end = kind === "length" ? Math.min(bytes.length, at + remaining) : bytes.length;
    remaining -= end - at;
    if (end > at) kept = sink.data(bytes.subarray(at, end), kind === "length" && remaining === 0);
    return kind === "length" && remaining === 0 ? end : -1;
  }

  return {
    expect(next: ResponseSink, options: { readonly noBody: boolean }): void {
      sink = next;
      noBody = options.noBody;
      head = undefined;
      pending = undefined;
    },
    /** Answers "more", "done", or "surplus": done, with bytes after the end that nobody asked for. */
    read(chunk: Buffer): "more" | "done" | "surplus" {
      let bytes = chunk;
      let at = 0;
      kept = false;
      if (!head) {
        if (pending) bytes = Buffer.concat([pending, chunk]);
        pending = undefined;
        at = readHead(bytes);
        if (at === -1 || !head) return "more";
      }
      const end = readBody(bytes, at, head.framing);
      if (end === -1) return "more";
      sink.end();
      return end < bytes.length ? "surplus" : "done";
    },
    /** The connection ended. True when that is how this body ends; otherwise the answer was cut off. */
    endsHere(): boolean {
      if (head?.framing.kind !== "until_close") return false;
      sink.end();
      return true;
    },
    /** Whether the bytes of the last read are still needed. */
    isKept: () => kept,
    hasStarted: () => head !== undefined || pending !== undefined,
    keepsAlive: () => head?.keepAlive ?? false,
  };
}

/** The head and the index after it; without a head, where the incomplete one begins. Interim answers are skipped: nothing we forward asks for them. */
function finalHead(bytes: Buffer, noBody: boolean): { readonly head: ResponseHead | undefined; readonly at: number } {
  for (let at = 0; ; ) {
    const end = bytes.indexOf(headEnd, at);
    if ((end === -1 ? bytes.length : end) - at > longestHead) throw new UpstreamError("the head is too long");
    if (end === -1) return { head: undefined, at };
    const head = parseResponseHead(bytes.toString("latin1", at, end), { noBody });
    at = end + headEnd.length;
    if (head.status === 101) throw new UpstreamError("it switched protocols unasked");
    if (head.status >= 200) return { head, at };
  }
}
