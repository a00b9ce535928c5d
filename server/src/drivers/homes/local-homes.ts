import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { type Logger, logError } from "../../logging/create-logger.ts";
import { checkSegment } from "../check-segment.ts";
import { DriverError } from "../driver.ts";
import { ownerFile } from "./claim-homes.ts";
import { countEntries } from "./count-entries.ts";
import { homeEntries } from "./home-entries.ts";
import { deletedPrefix, type HomeStore, missingHome, newDeletedName } from "./home-store.ts";
import { packArchive } from "./pack-archive.ts";
import { listingLeftOut } from "./pack-limits.ts";
import { backgroundLimitMs, openSizeCache } from "./size-cache.ts";

const countLimitMs = 8_000;

/** Homes in a folder of this machine, which is made if needed. `restoreHome` makes one of an archive. */
export async function openLocalHomes(folder: string, log: Logger): Promise<Omit<HomeStore, "restore">> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const root = await realpath(folder);
  const failed = logError(log, "home.delete_failed");
  // A server that was killed during a deletion leaves these.
  for (const name of (await readdir(root)).filter((each) => each.startsWith(deletedPrefix))) {
    rm(join(root, name), { recursive: true, force: true }).catch(failed);
  }
  const path = (home: string) => join(root, checkSegment("home", home));
  const isClaimed = existsSync(join(root, ownerFile));
  const countWithin = (limitMs: number) => async (home: string) =>
    existsSync(path(home)) ? await sizeMb(path(home), limitMs) : 0;
  const counters = { count: countWithin(countLimitMs), countInBackground: countWithin(backgroundLimitMs) };
  const { forget, ...sizes } = openSizeCache(counters);
  return {
    path,
    ...sizes,
    async make({ home, homeIsKept }) {
      if (isClaimed && !existsSync(join(root, ownerFile))) throw missingHome(home, root);
      try {
        if (!homeIsKept) await mkdir(path(home), { recursive: true, mode: 0o700 });
        // A program in it may have closed the folder to its own user, and so to the next start.
        await chmod(path(home), 0o700);
      } catch (error) {
        throw isNotFound(error) ? missingHome(home, root) : error;
      }
    },
    archive: (home, signal) => packArchive(listingLeftOut(homeEntries(path(home))), signal),
    countHome: (home, signal) => countEntries(path(home), signal),
    async remove(home) {
      // Renamed first: deleting many files takes long.
      const deleted = join(root, newDeletedName());
      forget(home);
      try {
        await rename(path(home), deleted);
      } catch (error) {
        if (isNotFound(error)) return;
        throw error;
      }
      rm(deleted, { recursive: true, force: true }).catch(failed);
    },
  };
}

function isNotFound(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}

async function sizeMb(folder: string, timeout: number): Promise<number> {
  // du exits with 1 when a file vanished during the count; its sum is still printed.
  const du = promisify(execFile)("du", ["-sk", folder], { timeout }).catch((error) => error);
  const kilobytes = Number.parseInt((await du).stdout, 10);
  if (Number.isNaN(kilobytes)) throw new DriverError("unavailable", `the size of ${folder} is not known`);
  return (kilobytes * 1024) / 1e6;
}
