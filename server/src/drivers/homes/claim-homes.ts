import { existsSync } from "node:fs";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { plural } from "@berth/contract";
import { DriverError } from "../driver.ts";

/** In the folder of homes: the id of the installation that they belong to. No home has this name. */
export const ownerFile = ".installation";

/**
 * Checks that a folder of this machine has the homes of this installation, before anything is started on them (G111). A
 * folder without an owner is claimed when no environment has files yet or when some of them are in it. `used` returns the
 * homes that should exist. Throws `refused` with one sentence for the operator.
 */
export async function claimHomes(
  folder: string,
  install: string,
  used: () => Promise<readonly string[]>,
): Promise<void> {
  const file = join(folder, ownerFile);
  const owner = await ownerOfHomes(folder);
  if (owner === install) return;
  if (owner !== undefined)
    throw new DriverError(
      "refused",
      `${folder} has the files of another installation (${owner}), and the database is that of ${install}: check DATA_DIR and DATABASE_URL.`,
    );
  const homes = await used();
  if (homes.length > 0 && !homes.some((home) => existsSync(join(folder, home))))
    throw new DriverError(
      "refused",
      `The files of ${plural(homes.length, "environment")} are not in ${folder}: check DATA_DIR, and that the disk is mounted. Nothing was started, so that no environment gets an empty folder. Where they are lost for good: mkdir -p '${folder}' && echo ${install} > '${file}', and start again.`,
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

/** The id of the installation that a folder of homes belongs to; undefined where it has no owner yet. */
export async function ownerOfHomes(folder: string): Promise<string | undefined> {
  const owner = await readFile(join(folder, ownerFile), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  // A power cut may leave an empty file.
  return owner.trim() || undefined;
}
