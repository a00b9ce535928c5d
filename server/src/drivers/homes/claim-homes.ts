import { existsSync } from "node:fs";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DriverError } from "../driver.ts";

/** In the folder of homes: the id of the installation whose they are. No home's name. */
export const ownerFile = ".installation";

/**
 * Makes sure that a folder of this machine has the homes of this installation, before anything is started on them (G111).
 * A folder without an owner is taken where no environment has files yet, or where some of these are in it: an installation
 * from before this file. `used` answers the homes that should be there. Throws `refused` with one sentence for the operator.
 */
export async function claimHomes(
  folder: string,
  install: string,
  used: () => Promise<readonly string[]>,
): Promise<void> {
  const file = join(folder, ownerFile);
  const owner = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (owner?.trim() === install) return;
  // An empty file is what a power cut may leave of one just made.
  if (owner?.trim())
    throw new DriverError(
      "refused",
      `${folder} has the files of another installation (${owner.trim()}), and the database is that of ${install}: check DATA_DIR and DATABASE_URL.`,
    );
  const homes = await used();
  if (homes.length > 0 && !homes.some((home) => existsSync(join(folder, home))))
    throw new DriverError(
      "refused",
      `The files of ${homes.length} environments are not in ${folder}: check DATA_DIR, and that the disk is mounted. Nothing was started, so that no environment gets an empty folder.`,
    );
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const handle = await open(file, "w", 0o600);
  try {
    await handle.writeFile(`${install}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
