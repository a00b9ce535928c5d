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
 * The last lines of a log, then what is appended while `follow` says so. A log that is absent has no lines; one that
 * has grown too large was put aside as `<path>.old` and begun anew. Whatever is done to the file, at most its last
 * megabyte is read at a look, 64 KB at a time, and of a line at most 8 KB.
 */
export async function* readLog(path: string, { tail, signal, follow }: ReadOptions): AsyncIterable<string> {
  let file = await openIfThere(path);
  if (!file) return;
  try {
    const before = await linesOfOld(`${path}.old`);
    let place = { at: 0 };
    let cut = lineCutter();
    const goesOn = await follow();
    const last = [...before, ...(await linesOf(file, place, cut))];
    yield* last.slice(Math.max(0, last.length - tail));
    for (let more = goesOn && !signal.aborted; more; ) {
      await wait(200, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      more = await follow();
      // Looked for first: what is put aside already is whole once it is read to its end.
      const isAside = await isAnother(path, file);
      for await (const chunk of unread(file, place)) yield* cut(chunk);
      const next = isAside ? await openIfThere(path) : undefined;
      if (!next) continue;
      await file.close();
      [file, place, cut, more] = [next, { at: 0 }, lineCutter(), true];
    }
  } finally {
    await file.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  return await open(path, "r").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}

async function isAnother(path: string, file: FileHandle): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && found.ino !== (await file.stat()).ino;
}

async function linesOfOld(path: string): Promise<string[]> {
  const file = await openIfThere(path);
  if (!file) return [];
  try {
    return await linesOf(file, { at: 0 }, lineCutter());
  } finally {
    await file.close();
  }
}

async function linesOf(file: FileHandle, place: Place, cut: ReturnType<typeof lineCutter>): Promise<string[]> {
  const lines: string[] = [];
  for await (const chunk of unread(file, place)) lines.push(...cut(chunk));
  return lines;
}

interface Place {
  at: number;
}

/** From the place to the end, or the end alone where that is far; the bytes are good until the next are asked for. */
async function* unread(file: FileHandle, place: Place): AsyncIterable<Buffer> {
  const { size } = await file.stat();
  if (size < place.at || size - place.at > tailBytes) place.at = Math.max(0, size - tailBytes);
  const buffer = Buffer.alloc(chunkBytes);
  while (place.at < size) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(chunkBytes, size - place.at), place.at);
    if (bytesRead === 0) return;
    place.at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Takes bytes as they come and gives the lines that end in them. */
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
