import { type FileHandle, open, stat } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";

const tailBytes = 1_000_000;
const chunkBytes = 65_536;
const longestLine = 8_192;

interface ReadOptions {
  readonly tail: number;
  readonly signal: AbortSignal;
  readonly follow: () => Promise<boolean>;
}

/**
 * The last lines of a log, then new lines as long as `follow` returns true. An absent log has no lines. A log that has grown
 * too large was rotated to `<path>.old`. A poll reads at most the last megabyte, 64 KB at a time, and at most 8 KB of a line,
 * whatever a run does to the file.
 */
export async function* readLog(path: string, { tail, signal, follow }: ReadOptions): AsyncIterable<string> {
  let file = await openIfExists(path);
  if (!file) return;
  try {
    const before = await linesOfRotated(`${path}.old`);
    let position = { at: 0 };
    let cut = lineCutter();
    const isGrowing = await follow();
    const last = [...before, ...(await linesOf(file, position, cut))];
    yield* last.slice(Math.max(0, last.length - tail));
    for (let more = isGrowing && !signal.aborted; more; ) {
      await wait(200, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      more = await follow();
      // Checked before the read: a rotated file is complete, so its end is its last line.
      const isRotated = await isAnotherFile(path, file);
      for await (const chunk of unread(file, position)) yield* cut(chunk);
      const next = isRotated ? await openIfExists(path) : undefined;
      if (!next) continue;
      await file.close();
      [file, position, cut, more] = [next, { at: 0 }, lineCutter(), true];
    }
  } finally {
    await file.close();
  }
}

async function openIfExists(path: string): Promise<FileHandle | undefined> {
  return await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

async function isAnotherFile(path: string, file: FileHandle): Promise<boolean> {
  const current = await stat(path).catch(() => undefined);
  return current !== undefined && current.ino !== (await file.stat()).ino;
}

async function linesOfRotated(path: string): Promise<string[]> {
  const file = await openIfExists(path);
  if (!file) return [];
  try {
    return await linesOf(file, { at: 0 }, lineCutter());
  } finally {
    await file.close();
  }
}

async function linesOf(file: FileHandle, position: Position, cut: ReturnType<typeof lineCutter>): Promise<string[]> {
  const lines: string[] = [];
  for await (const chunk of unread(file, position)) lines.push(...cut(chunk));
  return lines;
}

interface Position {
  at: number;
}

/** From the position to the end of the file, at most its last megabyte. The buffer is reused for the next chunk. */
async function* unread(file: FileHandle, position: Position): AsyncIterable<Buffer> {
  const { size } = await file.stat();
  if (size < position.at || size - position.at > tailBytes) position.at = Math.max(0, size - tailBytes);
  const buffer = Buffer.alloc(chunkBytes);
  while (position.at < size) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(chunkBytes, size - position.at), position.at);
    if (bytesRead === 0) return;
    position.at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Returns a function that takes chunks of bytes and returns the lines that end in each. */
function lineCutter(): (chunk: Buffer) => string[] {
  let rest = Buffer.alloc(0);
  const grow = (bytes: Buffer) => Buffer.concat([rest, bytes.subarray(0, longestLine - rest.length)]);
  return (chunk) => {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      lines.push(grow(chunk.subarray(from, end)).toString());
      rest = Buffer.alloc(0);
      from = end + 1;
    }
    rest = grow(chunk.subarray(from));
    return lines;
  };
}
