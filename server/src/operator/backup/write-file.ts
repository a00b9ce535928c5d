import { access, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { BackupRefused } from "./backup-refused.ts";
import { compression } from "./open-archive.ts";

export interface Taken {
  /** What `restore` and `backup verify` take. */
  readonly place: string;
  readonly bytes: number;
}

/** Writes a tar somewhere, reporting the bytes every few seconds. */
export type WriteArchive = (
  tar: AsyncIterable<Uint8Array>,
  onBytes: (written: number) => void,
  signal?: AbortSignal,
) => Promise<Taken>;

/** Between two reports of the bytes. */
export const reportMs = 5_000;

/** Into a file of mode 0600 that is not there yet; its name appears when it is whole and on the disk. */
export function writeFile(file: string): WriteArchive {
  return async (tar, onBytes, signal) => {
    const isThere = await access(file).then(
      () => true,
      () => false,
    );
    if (isThere) throw new BackupRefused(`${file} exists: name another file, nothing is overwritten.`);
    const partial = `${file}.partial`;
    // Opened before it is written: a stream that opens it itself may make it after its removal.
    const output = (await open(partial, "w", 0o600)).createWriteStream();
    const timer = setInterval(() => onBytes(output.bytesWritten), reportMs);
    try {
      await pipeline(tar, createGzip(compression), output, { ...(signal && { signal }) });
      await syncToDisk(partial);
      await rename(partial, file);
      await syncToDisk(dirname(file));
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    } finally {
      clearInterval(timer);
    }
    return { place: file, bytes: output.bytesWritten };
  };
}

async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, "r");
  await handle.sync().finally(() => handle.close());
}
