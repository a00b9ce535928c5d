import { constants, type Dir, type Stats } from "node:fs";
import { type FileHandle, lstat, open, opendir, readlink } from "node:fs/promises";
import type { ArchiveEntry } from "./pack-archive.ts";

/** Errors of an entry that its owner changes during the walk: it is left out. */
const skipped = new Set(["ENOENT", "ENOTDIR", "ELOOP", "EACCES", "EPERM", "ENXIO", "ENAMETOOLONG"]);
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;
const asFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/** A FIFO in a file's place must not block until it has a writer. */
const asFile = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;
const chunkBytes = 256 * 1024;

/**
 * All entries of a home, a folder before its contents. A program of the owner may swap a folder for a link at any moment,
 * so nothing is opened by its whole path: each step starts at an open folder and never follows a link. At most two folders
 * and one file are open, however deep the tree is. `denied` is called for what this account may not read.
 */
export async function* homeEntries(
  home: string,
  denied: () => void = () => {},
  special: (path: string) => void = () => {},
): AsyncGenerator<ArchiveEntry> {
  const waiting: (readonly Buffer[])[] = [[]];
  for (let folder = waiting.pop(); folder; folder = waiting.pop()) {
    const opened = await openFolder(home, folder, denied);
    if (!opened) continue;
    try {
      for await (const entry of entriesOf(opened, folder, { denied, special })) {
        if (entry.type === "Directory") waiting.push([...folder, entry.name]);
        yield entry;
      }
    } finally {
      await opened.handle.close();
    }
  }
}

interface Folder {
  readonly handle: FileHandle;
  /** On Linux the path of the open descriptor, which stays true when the folder is moved; elsewhere the folder's own path. */
  readonly path: Buffer;
}

type NamedEntry = ArchiveEntry & { readonly name: Buffer };

interface Listeners {
  readonly denied: () => void;
  /** A FIFO, a socket or a device. */
  readonly special: (path: string) => void;
}

async function* entriesOf(
  folder: Folder,
  path: readonly Buffer[],
  { denied, special }: Listeners,
): AsyncGenerator<NamedEntry> {
  // Names are bytes: one that is not UTF-8 could not be opened again as text.
  const listing = await unlessSkipped(opendir(folder.path, { encoding: "buffer" as BufferEncoding }), denied);
  if (!listing) return;
  for await (const { name: listed } of listing as Dir) {
    const name = listed as unknown as Buffer;
    const entryPath = inside(folder.path, name);
    const stats = await unlessSkipped(lstat(entryPath), denied);
    if (!stats) continue;
    const named = namedEntry(name, path, stats);
    if (stats.isDirectory()) yield { ...named, type: "Directory" };
    else if (stats.isSymbolicLink()) yield* linkOf(entryPath, named);
    else if (stats.isFile()) yield* fileOf(entryPath, named, denied);
    else special(named.path);
  }
}

async function* linkOf(path: Buffer, named: ReturnType<typeof namedEntry>): AsyncGenerator<NamedEntry> {
  const target = await unlessSkipped(readlink(path));
  if (target !== undefined) yield { ...named, type: "SymbolicLink", target };
}

function namedEntry(name: Buffer, folder: readonly Buffer[], { mode, mtime: modifiedAt, uid, gid }: Stats) {
  return { name, path: [...folder, name].join("/"), mode, modifiedAt, owner: { uid, gid } };
}

async function* fileOf(
  path: Buffer,
  named: ReturnType<typeof namedEntry>,
  denied: () => void,
): AsyncGenerator<NamedEntry> {
  const file = await unlessSkipped(open(path, asFile), denied);
  if (!file) return;
  try {
    const stats: Stats = await file.stat();
    if (stats.isFile())
      yield { ...named, type: "File", size: stats.size, blockBytes: stats.blocks * 512, bytes: () => bytesOf(file) };
  } finally {
    await file.close();
  }
}

/** Each chunk has a buffer of its own: the compressor may still hold the last one. */
async function* bytesOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function openFolder(home: string, path: readonly Buffer[], denied: () => void): Promise<Folder | undefined> {
  let folder = await openAt(Buffer.from(home), denied);
  for (const name of path) {
    if (!folder) return undefined;
    const next: Folder | undefined = await openAt(inside(folder.path, name), denied);
    await folder.handle.close();
    folder = next;
  }
  return folder;
}

async function openAt(path: Buffer, denied: () => void): Promise<Folder | undefined> {
  const handle = await unlessSkipped(open(path, asFolder), denied);
  if (!handle) return undefined;
  return { handle, path: process.platform === "linux" ? Buffer.from(`/proc/self/fd/${handle.fd}`) : path };
}

function inside(folder: Buffer, name: Buffer): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), name]);
}

async function unlessSkipped<T>(work: Promise<T>, denied?: () => void): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    if (!skipped.has(code)) throw error;
    if (code === "EACCES" || code === "EPERM") denied?.();
    return undefined;
  }
}
