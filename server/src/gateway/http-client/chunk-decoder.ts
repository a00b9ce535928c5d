import { UpstreamError } from "./upstream-error.ts";

const maxLineLength = 4096;
const maxTrailersLength = 16 * 1024;
// biome-ignore lint/suspicious/noControlCharactersInRegex: it excludes them.
const trailerLine = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[^\0-\x08\x0a-\x1f\x7f]*$/;
const sizeLine = /^([0-9a-f]{1,12})(?:;[!#$%&'*+\-.^_`|~0-9a-z]+(?:=[!#$%&'*+\-.^_`|~0-9a-z]+)?)*$/i;

/** Parser state of a chunked body. */
export interface ChunkDecoder {
  state: "size" | "data" | "after" | "trailers";
  /** Bytes left in the chunk. */
  remaining: number;
  /** The start of an incomplete line. */
  line: string;
  trailersLength: number;
}

export function createChunkDecoder(): ChunkDecoder {
  return { state: "size", remaining: 0, line: "", trailersLength: 0 };
}

/**
 * Decodes a chunked body. Returns the index after the body's end in these bytes, or -1 while it is incomplete. Strict: a
 * malformed size, a missing line end or an overlong line throws UpstreamError. Extensions and trailers are dropped.
 */
export function decodeChunks(
  decoder: ChunkDecoder,
  bytes: Buffer,
  start: number,
  onPiece: (piece: Buffer) => void,
): number {
  for (let at = start; at < bytes.length; ) {
    if (decoder.state === "data") {
      at = readData(decoder, bytes, at, onPiece);
      continue;
    }
    const next = readLine(decoder, bytes, at);
    if (next === undefined) return -1;
    at = next;
    if (endsBody(decoder)) return at;
  }
  return -1;
}

/** Returns the index of the next line. */
function readData(decoder: ChunkDecoder, bytes: Buffer, from: number, onPiece: (piece: Buffer) => void): number {
  const end = Math.min(bytes.length, from + decoder.remaining);
  decoder.remaining -= end - from;
  onPiece(bytes.subarray(from, end));
  if (decoder.remaining === 0) decoder.state = "after";
  return end;
}

/** Reads a line that may be split over several reads. Returns the index after it; undefined while it is incomplete. */
function readLine(decoder: ChunkDecoder, bytes: Buffer, from: number): number | undefined {
  const end = bytes.indexOf(10, from);
  decoder.line += bytes.toString("latin1", from, end === -1 ? bytes.length : end + 1);
  if (decoder.line.length > maxLineLength) throw new UpstreamError("a chunk's size line is too long");
  if (end === -1) return undefined;
  if (!decoder.line.endsWith("\r\n")) throw new UpstreamError("a chunk's size line does not end with CR LF");
  decoder.line = decoder.line.slice(0, -2);
  return end + 1;
}

/** Processes a complete line; true when it ends the body. */
function endsBody(decoder: ChunkDecoder): boolean {
  const { state, line } = decoder;
  decoder.line = "";
  if (state === "size") return readSize(decoder, line);
  if (state === "after") {
    if (line !== "") throw new UpstreamError("a chunk is longer than its size");
    decoder.state = "size";
    return false;
  }
  decoder.trailersLength += line.length;
  if (decoder.trailersLength > maxTrailersLength) throw new UpstreamError("the trailers are too long");
  if (line !== "") {
    if (!trailerLine.test(line)) throw new UpstreamError("a trailer is malformed");
    return false;
  }
  decoder.state = "size";
  decoder.trailersLength = 0;
  return true;
}

function readSize(decoder: ChunkDecoder, line: string): false {
  const size = sizeLine.exec(line)?.[1];
  if (size === undefined) throw new UpstreamError("a chunk's size is not a number");
  decoder.remaining = Number.parseInt(size, 16);
  decoder.state = decoder.remaining === 0 ? "trailers" : "data";
  return false;
}
