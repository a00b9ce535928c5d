/** A piece of a container's output. */
export interface Frame {
  readonly kind: "stdout" | "stderr";
  readonly bytes: Buffer;
}

const headBytes = 8;

/**
 * Frames of an attached or logged container without a terminal: one byte kind, three zeros, a length of 32 bits, the bytes.
 * Not docker-modem's `demuxStream` and `followProgress`: both read on however slow their reader is, and a home's archive
 * or a container's log may be gigabytes.
 */
export async function* readFrames(chunks: AsyncIterable<Buffer>): AsyncIterable<Frame> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= headBytes) {
      const end = headBytes + rest.readUInt32BE(4);
      if (rest.length < end) break;
      yield { kind: rest[0] === 2 ? "stderr" : "stdout", bytes: rest.subarray(headBytes, end) };
      rest = rest.subarray(end);
    }
  }
}

const longestLine = 1_000_000;

/** Lines of text without their ends; a line of more than 1 MB comes in parts, so that memory stays bounded. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > longestLine) lines.push(rest);
    if (rest.length > longestLine) rest = "";
    yield* lines;
  }
  if (rest) yield rest;
}
