import { createHash, type Hash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { type ArchiveEntry, exactly, packTar, textEntry } from "../../drivers/homes/pack-archive.ts";
import { manifestName, sumsName } from "./manifest.ts";
import { sumLine } from "./sum-line.ts";

/**
 * The tar of a backup: the entries, the sums of all files, the manifest, which is made when the digest of the sums is known.
 * `sumsFile` is a temporary file: there may be millions of files.
 */
export function archiveBytes(
  entries: AsyncIterable<ArchiveEntry>,
  sumsFile: string,
  manifestOf: (sums: string) => object,
): AsyncGenerator<Uint8Array> {
  return packTar(sealed(entries, sumsFile, manifestOf));
}

async function* sealed(
  entries: AsyncIterable<ArchiveEntry>,
  sumsFile: string,
  manifestOf: (sums: string) => object,
): AsyncGenerator<ArchiveEntry> {
  const listed = createHash("sha256");
  const sums = await open(sumsFile, "wx", 0o600);
  try {
    for await (const entry of entries) {
      if (entry.type !== "File") {
        yield entry;
        continue;
      }
      const hash = createHash("sha256");
      yield { ...entry, bytes: () => hashed(exactly(entry.size, entry.bytes()), hash) };
      const line = sumLine(hash.digest("hex"), entry.path);
      listed.update(line);
      await sums.write(line);
    }
  } finally {
    await sums.close();
  }
  yield fileEntry(sumsName, sumsFile);
  yield textEntry(manifestName, `${JSON.stringify(manifestOf(listed.digest("hex")), null, 2)}\n`);
}

async function* hashed(bytes: AsyncIterable<Uint8Array>, hash: Hash): AsyncGenerator<Uint8Array> {
  for await (const chunk of bytes) {
    hash.update(chunk);
    yield chunk;
  }
}

/** A file of this machine that nobody changes meanwhile. */
export function fileEntry(path: string, file: string): ArchiveEntry {
  const { size, mtime: modifiedAt } = statSync(file);
  return { type: "File", path, mode: 0o600, modifiedAt, size, bytes: () => createReadStream(file) };
}
