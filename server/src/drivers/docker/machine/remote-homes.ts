import { createHash } from "node:crypto";
import { Header } from "tar";
import { batch } from "../../../async/batch.ts";
import { type Logger, logError } from "../../../logging/create-logger.ts";
import { checkSegment } from "../../check-segment.ts";
import type { HomeCount } from "../../driver.ts";
import { archiveScript } from "../../homes/archive-script.ts";
import { countScript, parseCount } from "../../homes/count-script.ts";
import {
  deletedPrefix,
  type HomeStore,
  missingHome,
  type NewHome,
  newDeletedName,
  notEmpty,
} from "../../homes/home-store.ts";
import { packArchive } from "../../homes/pack-archive.ts";
import { inPieces, notEmptyMark, restoreScript } from "../../homes/restore-script.ts";
import { backgroundLimitMs, openSizeCache } from "../../homes/size-cache.ts";
import { runUser } from "../containers/container-body.ts";
import {
  createHelper,
  type Helper,
  type HelperDeps,
  helperOutput,
  isFolderMissing,
  runHelper,
} from "../containers/helper-container.ts";
import { engineErrorOf } from "../engine/engine-errors.ts";

/** The folder of all homes inside a helper container. */
const inside = "/homes";
const wipeLimitMs = 3_600_000;

/** Homes in a folder of another machine, reached through its engine: each operation is a helper container that sees only them. */
export function remoteHomes(deps: HelperDeps, root: string, log: Logger): HomeStore {
  const path = (home: string) => `${root}/${checkSegment("home", home)}`;
  const sizeOf = async (home: string, signal?: AbortSignal) =>
    (await countSizes(deps, root, [checkSegment("home", home)], signal))[0] ?? 0;
  // One container for all: a container for each costs more than the count, unless one home has millions of files.
  const sizeOfMany = batch<string, number | Promise<number>>((homes) =>
    countSizes(deps, root, homes).catch(() =>
      homes.map((home) => sizeOf(home, AbortSignal.timeout(backgroundLimitMs))),
    ),
  );
  const { forget, ...sizes } = openSizeCache({
    count: (home) => sizeOf(home),
    countInBackground: async (home) => await sizeOfMany(checkSegment("home", home)),
  });
  return {
    path,
    ...sizes,
    make: (spec) => makeHome(deps, root, spec),
    archive(home, signal) {
      return archiveHome(deps, path(home), signal);
    },
    countHome: (home, signal) => countHome(deps, path(home), signal),
    async restore(spec, archive, signal) {
      const source = path(spec.home);
      await makeHome(deps, root, spec);
      const folder = { source, target: inside, writable: true } as const;
      const helper = { script: restoreScript(inside), folder, user: runUser, input: inPieces(archive) };
      await helperOutput(deps, helper, signal).catch((error) => {
        throw String(error).includes(notEmptyMark) ? notEmpty(spec.home) : error;
      });
    },
    async remove(home) {
      forget(home);
      const args = [checkSegment("home", home), newDeletedName()];
      // Renamed first: deleting many files takes long.
      const script = `cd ${inside} && if [ -d "$1" ]; then mv -T -- "$1" "$2"; fi`;
      await helperOutput(deps, { script, args, binds: [`${root}:${inside}`], ...writing });
      void wipeDeletedHomes(deps, root, AbortSignal.timeout(wipeLimitMs)).catch(logError(log, "home.delete_failed"));
    },
  };
}

/** The files belong to another user there, and may be unreadable for others. */
const writing: Pick<Helper, "capabilities"> = { capabilities: ["DAC_OVERRIDE", "FOWNER"] };
const reading: Pick<Helper, "capabilities"> = { capabilities: ["DAC_READ_SEARCH"] };

/** Deletes the files of deleted homes, also those that a killed server left. */
export async function wipeDeletedHomes(deps: HelperDeps, root: string, signal: AbortSignal): Promise<void> {
  const helper = { script: `rm -rf -- ${inside}/${deletedPrefix}*`, binds: [`${root}:${inside}`], ...writing };
  for await (const _ of runHelper(deps, helper, signal));
}

/**
 * Uploads the folder through a container that is never started and stays: starting one for each home would double the time
 * of a launch.
 */
async function makeHome(deps: HelperDeps, root: string, { home, homeIsKept }: NewHome): Promise<void> {
  const { engine, install } = deps;
  checkSegment("home", home);
  const name = `homes-${install}-${createHash("sha256").update(root).digest("hex").slice(0, 8)}`;
  await engine.withTimeout(async (abortSignal) => {
    const container = engine.docker.getContainer(name);
    const withContainer = async <T>(work: () => Promise<T>) => {
      try {
        return await work();
      } catch (error) {
        if (engineErrorOf(error)?.status !== 404) throw error;
        await createUploadContainer(deps, root, name);
        return await work();
      }
    };
    const readFolder = () => container.infoArchive({ path: `${inside}/${home}`, ...{ abortSignal } });
    if (homeIsKept)
      await withContainer(readFolder).catch((error) => {
        throw engineErrorOf(error)?.status === 404 ? missingHome(home, `${root} of ${engine.displayName}`) : error;
      });
    await withContainer(() => container.putArchive(folderArchive(home), { path: inside, ...{ abortSignal } }));
  });
}

async function createUploadContainer(deps: HelperDeps, root: string, name: string): Promise<void> {
  const helper = { name, stays: true, script: ":", binds: [`${root}:${inside}`] };
  await createHelper(deps, helper).catch((error) => {
    // Another server has created it meanwhile.
    if (engineErrorOf(error.cause)?.status !== 409) throw error;
  });
}

/** An existing folder gets this owner and mode, and keeps its files. */
function folderArchive(home: string): Buffer {
  const own = { uid: runUser, gid: runUser, mode: 0o700, size: 0, mtime: new Date() };
  const header = new Header({ path: `${home}/`, type: "Directory", ...own });
  header.encode();
  return Buffer.concat([header.block ?? Buffer.alloc(0), Buffer.alloc(1024)]);
}

async function countSizes(
  deps: HelperDeps,
  root: string,
  homes: readonly string[],
  signal?: AbortSignal,
): Promise<readonly number[]> {
  const script = `cd ${inside} && for home; do [ -d "$home" ] && du -sk -- "$home" 2>/dev/null; done; true`;
  const helper = { script, args: homes, binds: [`${root}:${inside}:ro`], ...reading };
  const text = await helperOutput(deps, helper, signal);
  const kilobytes = new Map([...text.matchAll(/^(\d+)\t(.+)$/gm)].map(([, size, home]) => [home, Number(size)]));
  return homes.map((home) => ((kilobytes.get(home) ?? 0) * 1024) / 1e6);
}

async function countHome(deps: HelperDeps, source: string, signal: AbortSignal): Promise<HomeCount | undefined> {
  try {
    const helper = { script: countScript(inside), folder: { source, target: inside }, ...reading };
    return parseCount(await helperOutput(deps, helper, signal));
  } catch (error) {
    if (isFolderMissing(error)) return undefined;
    throw error;
  }
}

/** Compressed on that machine. The container sees only the home itself, so a link in place of a folder leads nowhere. */
async function* archiveHome(deps: HelperDeps, source: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const folder = { source, target: inside };
  try {
    yield* runHelper(deps, { script: archiveScript(inside), folder, ...reading }, signal);
  } catch (error) {
    if (isFolderMissing(error)) return yield* packArchive((async function* () {})(), signal);
    throw error;
  }
}
