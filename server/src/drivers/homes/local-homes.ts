import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, readdir, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { checkSegment } from "../check-segment.ts";
import { DriverError, type Spec } from "../driver.ts";
import { ownerFile } from "./claim-homes.ts";
import { homeEntries } from "./home-entries.ts";
import { packArchive } from "./pack-archive.ts";

/** Homes as folders of this machine, one for each owner and subdomain (G31). */
export interface Homes {
  /** Where a home is or would be. Throws `refused` for what is no name of one. */
  path(home: string): string;
  /**
   * The folder is there and open to its owner alone. One that is kept is never made anew, nor any where the disk with all of
   * them is not there: throws `no_home` (G111).
   */
  make(spec: NewHome): Promise<void>;
  /** As `Driver.homeMb`. Throws `unavailable` when it cannot be told within 8 s. */
  sizeMb(home: string): Promise<number>;
  /**
   * The same as it was counted last, which is at most every five minutes and behind the back of the call: millions of files
   * are work for the disk, and for minutes. Throws `unavailable` while it was never counted, after 2 s.
   */
  recentMb(home: string): Promise<number>;
  /** As `Driver.archive`. */
  archive(home: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Gone when it returns, though its bytes may still be on their way. absent: no-op. */
  remove(home: string): Promise<void>;
}

export type NewHome = Pick<Spec, "home" | "homeIsKept" | "limits">;

export function missingHome(home: string, place: string): DriverError {
  return new DriverError("no_home", `The files of ${home} are not in ${place}: is its disk mounted?`);
}

/** What a home's folder is called from its deletion on until its files are gone. */
export const deletedPrefix = ".deleted-";
/** No home's name, and deleted at the next start if it is still there. */
export const newDeletedName = () => `${deletedPrefix}${randomUUID()}`;

const recentMs = 5 * 60_000;
const firstMs = 2_000;
const exactlyMs = 8_000;
/** Of a count that nobody waits for. */
export const backgroundLimitMs = 10 * 60_000;

/** Makes the folder if needed; `failed` hears when deleting goes wrong behind the back of a call. */
export async function openLocalHomes(folder: string, failed: (error: unknown) => void): Promise<Homes> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const root = await realpath(folder);
  // What a server that was killed while deleting left behind.
  for (const name of (await readdir(root)).filter((each) => each.startsWith(deletedPrefix))) {
    rm(join(root, name), { recursive: true, force: true }).catch(failed);
  }
  const path = (home: string) => join(root, checkSegment("home", home));
  const isClaimed = existsSync(join(root, ownerFile));
  const count = (limitMs: number) => async (home: string) =>
    existsSync(path(home)) ? await sizeMb(path(home), limitMs) : 0;
  const { forget, ...sizes } = cacheSizes({ exactly: count(exactlyMs), patiently: count(backgroundLimitMs) });
  return {
    path,
    ...sizes,
    async make({ home, homeIsKept }) {
      if (isClaimed && !existsSync(join(root, ownerFile))) throw missingHome(home, root);
      try {
        if (!homeIsKept) await mkdir(path(home), { recursive: true, mode: 0o700 });
        // What runs in it may have closed it to itself, and so to its next start.
        await chmod(path(home), 0o700);
      } catch (error) {
        throw (error as NodeJS.ErrnoException).code === "ENOENT" ? missingHome(home, root) : error;
      }
    },
    archive: (home, signal) => packArchive(homeEntries(path(home)), signal),
    async remove(home) {
      // Out of the way at once; the files themselves may be many.
      const away = join(root, newDeletedName());
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

/** Megabytes of a home: within the time of a verb, or however long it takes. */
interface Counts {
  exactly(home: string): Promise<number>;
  patiently(home: string): Promise<number>;
}

interface Last {
  readonly mb?: number | undefined;
  /** Why the newest count failed: it is not tried again at once either. */
  readonly error?: unknown;
  readonly atMs: number;
}

/** The two ways to ask, and that a home is another one from now on. */
export function cacheSizes({ exactly, patiently }: Counts) {
  const known = new Map<string, Last>();
  const counting = new Map<string, Promise<number>>();

  function countBehind(home: string): Promise<number> {
    const count = patiently(home);
    const done = (last: Omit<Last, "atMs">) => {
      if (counting.get(home) !== count) return;
      counting.delete(home);
      known.set(home, { ...last, atMs: performance.now() });
    };
    counting.set(home, count);
    count.then(
      (mb) => done({ mb }),
      (error) => done({ mb: known.get(home)?.mb, error }),
    );
    return count;
  }

  return {
    async sizeMb(home: string) {
      const mb = await exactly(home);
      known.set(home, { mb, atMs: performance.now() });
      return mb;
    },
    async recentMb(home: string) {
      const last = known.get(home);
      const isRecent = last !== undefined && performance.now() - last.atMs < recentMs;
      const now = isRecent ? undefined : (counting.get(home) ?? countBehind(home));
      if (last?.mb !== undefined) return last.mb;
      if (!now) throw last?.error;
      return await soon(now, home);
    },
    forget(home: string) {
      counting.delete(home);
      known.delete(home);
    },
  };
}

async function soon(count: Promise<number>, home: string): Promise<number> {
  const over = new AbortController();
  const late = wait(firstMs, undefined, { signal: over.signal }).then(() => {
    throw new DriverError("unavailable", `the files of ${home} are still being counted`);
  });
  late.catch(() => {});
  return await Promise.race([count, late]).finally(() => over.abort());
}

async function sizeMb(folder: string, timeout: number): Promise<number> {
  // du ends with 1 when a file vanished under it; what it counted is still the answer.
  const du = promisify(execFile)("du", ["-sk", folder], { timeout }).catch((error) => error);
  const kilobytes = Number.parseInt((await du).stdout, 10);
  if (Number.isNaN(kilobytes)) throw new DriverError("unavailable", `the size of ${folder} is not known`);
  return (kilobytes * 1024) / 1e6;
}
