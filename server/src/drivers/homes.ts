import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { packArchive } from "./archive.ts";
import { DriverError } from "./driver.ts";
import { homeEntries } from "./home-entries.ts";
import { checkSegment } from "./names.ts";

/** Homes as folders of this machine, one for each owner and subdomain (G31). */
export interface Homes {
  /** Where a home is or would be. Throws `refused` for what is no name of one. */
  path(home: string): string;
  /** As `Driver.homeMb`. Throws `unavailable` when it cannot be told within 8 s. */
  sizeMb(home: string): Promise<number>;
  /** The same as it was at most five minutes ago: to count a home's files is work for the disk. */
  recentMb(home: string): Promise<number>;
  /** As `Driver.archive`. */
  archive(home: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Gone when it returns, though its bytes may still be on their way. absent: no-op. */
  remove(home: string): Promise<void>;
}

const leftover = ".deleted-";
/** No home's name, and deleted at the next start if it is still there. */
export const deletedHome = () => `${leftover}${randomUUID()}`;

const recentMs = 5 * 60_000;

/** Makes the folder if needed; `failed` hears when deleting goes wrong behind the back of a call. */
export async function openHomes(folder: string, failed: (error: unknown) => void): Promise<Homes> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const root = await realpath(folder);
  // What a server that was killed while deleting left behind.
  for (const name of (await readdir(root)).filter((each) => each.startsWith(leftover))) {
    rm(join(root, name), { recursive: true, force: true }).catch(failed);
  }
  const path = (home: string) => join(root, checkSegment("home", home));
  const { forget, ...sizes } = keepSizes(async (home) => (existsSync(path(home)) ? await sizeMb(path(home)) : 0));
  return {
    path,
    ...sizes,
    archive: (home, signal) => packArchive(homeEntries(path(home)), signal),
    async remove(home) {
      // Out of the way at once; the files themselves may be many.
      const away = join(root, deletedHome());
      forget(home);
      try {
        await rename(path(home), away);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
        throw error;
      }
      rm(away, { recursive: true, force: true }).catch(failed);
    },
  };
}

/** The two ways to ask, and that a home is another one from now on. */
export function keepSizes(count: (home: string) => Promise<number>) {
  const known = new Map<string, { readonly mb: number; readonly atMs: number }>();
  const sizeMb = async (home: string) => {
    const mb = await count(home);
    known.set(home, { mb, atMs: performance.now() });
    return mb;
  };
  return {
    sizeMb,
    async recentMb(home: string) {
      const last = known.get(home);
      return last && performance.now() - last.atMs < recentMs ? last.mb : await sizeMb(home);
    },
    forget: (home: string) => void known.delete(home),
  };
}

async function sizeMb(folder: string): Promise<number> {
  // du ends with 1 when a file vanished under it; what it counted is still the answer.
  const du = promisify(execFile)("du", ["-sk", folder], { timeout: 8_000 }).catch((error) => error);
  const kilobytes = Number.parseInt((await du).stdout, 10);
  if (Number.isNaN(kilobytes)) throw new DriverError("unavailable", `the size of ${folder} is not known`);
  return (kilobytes * 1024) / 1e6;
}
