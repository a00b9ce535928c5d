import { constants, type Dir, type Stats } from "node:fs";
import { type FileHandle, lstat, open, opendir, readlink } from "node:fs/promises";
import type { ArchiveEntry } from "./pack-archive.ts";

/** What may happen to any name while its owner goes on working: it is left out. */
const gone = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENXIO", "ENAMETOOLONG"]);
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
const asFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/** Whoever puts a pipe in a file's place must not make us wait for its writer. */
const asFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
const chunkBytes = 256 * 1024;

/**
 * Everything in a home, folders before what is in them. Its owner's programs may swap a folder for a link at any moment,
 * so nothing is reached by its path: each step is taken from an open folder and never through a link. Two folders and one
 * file at most are open, however deep it goes.
 */
export async function* homeEntries(home: string): AsyncGenerator<ArchiveEntry> {
  const waiting: (readonly Buffer[])[] = [[]];
  for (let folder = waiting.pop(); folder; folder = waiting.pop()) {
    const opened = await openFolder(home, folder);
    if (!opened) continue;
    try {
      for await (const found of entriesOf(opened, folder)) {
        if (found.type === "Directory") waiting.push([...folder, found.name]);
        yield found;
      }
    } finally {
      await opened.handle.close();
    }
  }
}

interface Folder {
  readonly handle: FileHandle;
  /** Linux names an open folder, wherever it is by now. Elsewhere nothing is boxed in, and its path must do. */
  readonly place: Buffer;
}

type Found = ArchiveEntry & { readonly name: Buffer };

async function* entriesOf({ place: at }: Folder, path: readonly Buffer[]): AsyncGenerator<Found> {
  // Names are bytes: not every program writes UTF-8, and a name that is not could not be opened again as text.
  const listing = await orGone(opendir(at, { encoding: "buffer" as BufferEncoding }));
  if (!listing) return;
  for await (const { name: listed } of listing as Dir) {
    const name = listed as unknown as Buffer;
    const place = inside(at, name);
    const stats = await orGone(lstat(place));
    const named = stats && { name, path: [...path, name].join("/"), mode: stats.mode, modifiedAt: stats.mtime };
    if (named && stats.isDirectory()) yield { ...named, type: "Directory" };
    if (named && stats.isSymbolicLink()) {
      const target = await orGone(readlink(place));
      if (target !== undefined) yield { ...named, type: "SymbolicLink", target };
    }
    if (named && stats.isFile()) yield* fileOf(place, named);
  }
}

async function* fileOf(
  place: Buffer,
  named: Pick<Found, "name" | "path" | "mode" | "modifiedAt">,
): AsyncGenerator<Found> {
  const file = await orGone(open(place, asFile));
  if (!file) return;
  try {
    const stats: Stats = await file.stat();
    if (stats.isFile()) yield { ...named, type: "File", size: stats.size, bytes: () => bytesOf(file) };
  } finally {
    await file.close();
  }
}

/** A new buffer for each chunk: the last one may still be on its way through the compressor. */
async function* bytesOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function openFolder(home: string, path: readonly Buffer[]): Promise<Folder | undefined> {
  let folder = await openAt(Buffer.from(home));
  for (const name of path) {
    if (!folder) return undefined;
    const next: Folder | undefined = await openAt(inside(folder.place, name));
    await folder.handle.close();
    folder = next;
  }
  return folder;
}

async function openAt(path: Buffer): Promise<Folder | undefined> {
  const handle = await orGone(open(path, asFolder));
  if (!handle) return undefined;
  return { handle, place: process.platform === "linux" ? Buffer.from(`/proc/self/fd/${handle.fd}`) : path };
}

function inside(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), name]);
}

async function orGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (gone.has((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}
