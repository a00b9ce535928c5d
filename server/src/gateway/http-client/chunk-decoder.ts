import { UpstreamError } from "./upstream-error.ts";

const longestLine = 4096;
const longestTrailers = 16 * 1024;
const sizeLine = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i;

/**
 * Takes a chunked body apart. `decode` answers the index after the body's end in these bytes, or -1 while more is to
 * come. Strict: a malformed size, a missing line end or an endless line throws. Extensions and trailers are dropped.
 */
export function createChunkDecoder() {
  let state: "size" | "data" | "after" | "trailers" = "size";
  let remaining = 0;
  let line = "";
  let trailerBytes = 0;

  /** The rest of a line that may be split over several reads; undefined while its end is missing. */
  function takeLine(bytes: Buffer, from: number): number | undefined {
    const end = bytes.indexOf(10, from);
    line += bytes.toString("latin1", from, end === -1 ? bytes.length : end + 1);
    if (line.length > longestLine) throw new UpstreamError("a chunk's size line is too long");
    if (end === -1) return undefined;
    if (!line.endsWith("\r\n")) throw new UpstreamError("a chunk's size line does not end with CR LF");
    line = line.slice(0, -2);
    return end + 1;
  }

  function readSize(): void {
    const size = sizeLine.exec(line)?.[1];
    line = "";
    if (size === undefined) throw new UpstreamError("a chunk's size is not a number");
    remaining = Number.parseInt(size, 16);
    state = remaining === 0 ? "trailers" : "data";
  }

  /** Takes what belongs to the chunk; answers where the next line begins. */
  function takeData(bytes: Buffer, from: number, emit: (piece: Buffer) => void): number {
    const end = Math.min(bytes.length, from + remaining);
    remaining -= end - from;
    emit(bytes.subarray(from, end));
    if (remaining === 0) state = "after";
    return end;
  }

  /** A complete line, whatever it is; true when it ends the body. */
  function readLine(): boolean {
    if (state === "size") readSize();
    else if (state === "after") {
      if (line !== "") throw new UpstreamError("a chunk is longer than its size");
      state = "size";
    } else if (line === "") {
      state = "size";
      trailerBytes = 0;
      return true;
    } else {
      trailerBytes += line.length;
      line = "";
      if (trailerBytes > longestTrailers) throw new UpstreamError("the trailers are too long");
    }
    return false;
  }

  return function decode(bytes: Buffer, start: number, emit: (piece: Buffer) => void): number {
    for (let at = start; at < bytes.length; ) {
      if (state === "data") {
        at = takeData(bytes, at, emit);
        continue;
      }
      const next = takeLine(bytes, at);
      if (next === undefined) return -1;
      at = next;
      if (readLine()) return at;
    }
    return -1;
  };
}
