import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

interface Named {
  /** Relative to the home, with slashes. */
  readonly path: string;
  readonly mode: number;
  readonly modifiedAt: Date;
  readonly owner?: Owner;
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export type ArchiveEntry =
  | (Named & { readonly type: "Directory" })
  | (Named & { readonly type: "SymbolicLink"; readonly target: string })
  | (Named & {
      readonly type: "File";
      readonly size: number;
      /** What it takes on the disk, as far as that is known: less than its size where it has holes. */
      readonly blockBytes?: number;
      readonly bytes: () => AsyncIterable<Uint8Array>;
    });

const blockBytes = 512;
const zeros = Buffer.alloc(64 * 1024);
/** The user that every environment runs as: the owner of all that is downloaded. */
const environmentUser: Owner = { uid: 1000, gid: 1000 };

/**
 * A tar.gz of the entries, packed while it is read, so that memory does not grow with a file's size. Only the headers come
 * from `tar`: its packer fails on a file that vanishes or shrinks while it is read.
 */
export function packArchive(entries: AsyncIterable<ArchiveEntry>, signal: AbortSignal): Readable {
  const source = Readable.from(
    packTar(entries, () => environmentUser),
    { objectMode: false, highWaterMark: 256 * 1024 },
  );
  // The fastest level: the reader's connection should be the slowest part.
  const gzip = createGzip({ level: 1 });
  // The reader gets the error: `pipeline` destroys both ends with it.
  pipeline(source, gzip, { signal }).catch(() => {});
  return gzip;
}

/** A tar of the entries, uncompressed. A file is read when its bytes are; the next entry is asked for after them. */
export async function* packTar(
  entries: AsyncIterable<ArchiveEntry>,
  ownerOf: (entry: ArchiveEntry) => Owner | undefined = ({ owner }) => owner,
): AsyncGenerator<Uint8Array> {
  const tar = await import("tar");
  for await (const entry of entries) {
    yield headOf(tar, entry, ownerOf(entry) ?? { uid: 0, gid: 0 });
    if (entry.type !== "File") continue;
    yield* exactly(entry.size, entry.bytes());
    yield zeros.subarray(0, -entry.size & (blockBytes - 1));
  }
  yield zeros.subarray(0, 2 * blockBytes);
}

export function textEntry(path: string, text: string): ArchiveEntry {
  const bytes = Buffer.from(text);
  const content = async function* () {
    yield bytes;
  };
  return { type: "File", path, mode: 0o600, modifiedAt: new Date(), size: bytes.length, bytes: content };
}

function headOf({ Header, Pax }: typeof import("tar"), entry: ArchiveEntry, owner: Owner): Buffer {
  const { type, mode, modifiedAt: mtime } = entry;
  const path = type === "Directory" ? `${entry.path}/` : entry.path;
  const size = type === "File" ? entry.size : 0;
  const fields = { path, size, mtime, ...(type === "SymbolicLink" && { linkpath: entry.target }) };
  const header = new Header({ ...fields, ...owner, type, mode: mode & 0o777 });
  header.encode();
  const block = header.block ?? Buffer.alloc(0);
  return header.needPax ? Buffer.concat([new Pax({ ...fields, ...owner }).encode(), block]) : block;
}

/** The header has the size already: a file that shrinks meanwhile is filled up, one that grows is cut. */
export async function* exactly(size: number, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let left = size;
  for await (const chunk of bytes) {
    yield chunk.subarray(0, left);
    left -= Math.min(left, chunk.length);
    if (left === 0) return;
  }
  for (; left > 0; left -= Math.min(left, zeros.length)) yield zeros.subarray(0, left);
}
