import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { BackupRefused } from "./backup-refused.ts";

/** As quick as most disks, and a third of the size. */
export const compression = { level: 3 };

/** The tar of a backup file. Throws BackupRefused where there is none. */
export async function openArchive(file: string): Promise<AsyncIterable<Uint8Array>> {
  const head = Buffer.alloc(10);
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new BackupRefused(`${file} cannot be read (${error.code}).`);
  });
  await handle.read(head, 0, head.length, 0).finally(() => handle.close());
  const expected = await gzipHead();
  // The last byte names the system that the file was made on. Gunzip does not look at the others that carry no data.
  if (!head.subarray(0, 9).equals(expected.subarray(0, 9)))
    throw new BackupRefused(`${file} is not a backup of this product, or damaged.`);
  const gunzip = createGunzip();
  // The reader gets the error: `pipeline` destroys both ends with it.
  pipeline(createReadStream(file, { highWaterMark: 2 ** 18 }), gunzip).catch(() => {});
  return gunzip;
}

async function gzipHead(): Promise<Buffer> {
  const gzip = createGzip(compression);
  gzip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of gzip) chunks.push(chunk);
  return Buffer.concat(chunks).subarray(0, 10);
}
