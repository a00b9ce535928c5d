import { existsSync, mkdtempSync, realpathSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const memory = "/dev/shm";
/** A run uses a few hundred megabytes. */
const spareBytes = 2 ** 31;

/** A new folder for a database: its hundreds of small files cost a fraction in memory, where that has room for them. */
export function memoryFolder(prefix: string): string {
  return mkdtempSync(join(hasRoom() ? memory : realpathSync(tmpdir()), prefix));
}

function hasRoom(): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > spareBytes;
}
