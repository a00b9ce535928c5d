import { chmodSync, existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

interface Staging {
  readonly folder: string;
  /** Moves what is in the folder to the target. */
  finish(): Promise<void>;
}

/**
 * A folder on the file system of the target, which is missing or empty: beside it, so that it appears whole, or inside where
 * the target is a disk of its own.
 */
export async function openStaging(target: string): Promise<Staging> {
  const parent = dirname(target);
  await mkdir(parent, { recursive: true });
  const isMount = existsSync(target) && (await stat(target)).dev !== (await stat(parent)).dev;
  return isMount ? await inside(target) : await beside(parent, target);
}

async function beside(parent: string, target: string): Promise<Staging> {
  const folder = await mkdtemp(join(parent, `.${basename(target)}-restore-`));
  return {
    folder,
    async finish() {
      chmodSync(folder, 0o700);
      // Takes the place of an empty folder too, and of no other.
      await rename(folder, target);
    },
  };
}

async function inside(target: string): Promise<Staging> {
  const folder = await mkdtemp(join(target, ".restore-"));
  return {
    folder,
    async finish() {
      const names = await readdir(folder);
      // The database last: without it no server of this installation starts.
      for (const name of names.sort((a, b) => Number(a === "database") - Number(b === "database")))
        await rename(join(folder, name), join(target, name));
      await rmdir(folder);
    },
  };
}
