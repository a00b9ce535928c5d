import { createHash } from "node:crypto";
import { Header } from "tar";
import { together } from "../../../async/batch.ts";
import { checkSegment } from "../../check-segment.ts";
import {
  backgroundLimitMs,
  cacheSizes,
  deletedPrefix,
  missingHome,
  type NewHome,
  newDeletedName,
} from "../../homes/local-homes.ts";
import { packArchive } from "../../homes/pack-archive.ts";
import { runUser } from "../containers/container-body.ts";
import {
  createHelper,
  type Helper,
  type HelperDeps,
  helperOutput,
  isFolderMissing,
  runHelper,
} from "../containers/helper-container.ts";
import { engineErrorOf } from "../engine/engine.ts";
import type { EngineHomes } from "./engine-machine.ts";

const inside = "/homes";
const deletingMs = 3_600_000;

/**
 * Homes as folders of another machine, reached through its engine: each work is a container that sees these folders and
 * nothing else, and is gone after it.
 */
export function remoteHomes(parts: HelperDeps, root: string, failed: (error: unknown) => void): EngineHomes {
  const path = (home: string) => `${root}/${checkSegment("home", home)}`;
  const alone = async (home: string, signal?: AbortSignal) =>
    (await sizes(parts, root, [checkSegment("home", home)], signal))[0] ?? 0;
  // An errand for each would cost more than the look, as long as none of them has millions of files.
  const all = together<string, number | Promise<number>>((homes) =>
    sizes(parts, root, homes).catch(() => homes.map((home) => alone(home, AbortSignal.timeout(backgroundLimitMs)))),
  );
  const { forget, ...counted } = cacheSizes({
    exactly: (home) => alone(home),
    patiently: async (home) => await all(checkSegment("home", home)),
  });
  return {
    path,
    ...counted,
    make: (spec) => make(parts, root, spec),
    archive(home, signal) {
      return archive(parts, path(home), signal);
    },
    async remove(home) {
      forget(home);
      const args = [checkSegment("home", home), newDeletedName()];
      // Out of the way at once; the files themselves may be many.
      const script = `cd ${inside} && if [ -d "$1" ]; then mv -T -- "$1" "$2"; fi`;
      await helperOutput(parts, { script, args, binds: [`${root}:${inside}`], ...overriding });
      void wipeDeletedHomes(parts, root, AbortSignal.timeout(deletingMs)).catch(failed);
    },
  };
}

/** Files belong to another user there, and may be closed to everybody. */
const overriding: Pick<Helper, "capabilities"> = { capabilities: ["DAC_OVERRIDE", "FOWNER"] };
const reading: Pick<Helper, "capabilities"> = { capabilities: ["DAC_READ_SEARCH"] };

/** What is left of homes that were deleted, also by a server that was killed meanwhile. */
export async function wipeDeletedHomes(parts: HelperDeps, root: string, signal: AbortSignal): Promise<void> {
  const errand = { script: `rm -rf -- ${inside}/${deletedPrefix}*`, binds: [`${root}:${inside}`], ...overriding };
  for await (const _ of runHelper(parts, errand, signal));
}

/**
 * Unpacked by the engine itself, in one call, into a container that is never started and stays: a run for each folder
 * would take as long as the launch that waits for it.
 */
async function make(parts: HelperDeps, root: string, { home, homeIsKept }: NewHome): Promise<void> {
  const { engine, install } = parts;
  checkSegment("home", home);
  const name = `homes-${install}-${createHash("sha256").update(root).digest("hex").slice(0, 8)}`;
  await engine.withTimeout(async (abortSignal) => {
    const container = engine.docker.getContainer(name);
    const inStore = async <T>(work: () => Promise<T>) => {
      try {
        return await work();
      } catch (error) {
        if (engineErrorOf(error)?.status !== 404) throw error;
        await createStore(parts, root, name);
        return await work();
      }
    };
    const look = () => container.infoArchive({ path: `${inside}/${home}`, ...{ abortSignal } });
    if (homeIsKept)
      await inStore(look).catch((error) => {
        throw engineErrorOf(error)?.status === 404 ? missingHome(home, `${root} of ${engine.displayName}`) : error;
      });
    await inStore(() => container.putArchive(folderArchive(home), { path: inside, ...{ abortSignal } }));
  });
}

async function createStore(parts: HelperDeps, root: string, name: string): Promise<void> {
  const errand = { name, stays: true, script: ":", binds: [`${root}:${inside}`] };
  await createHelper(parts, errand).catch((error) => {
    // Another server was quicker.
    if (engineErrorOf(error.cause)?.status !== 409) throw error;
  });
}

/** A folder that is there already gets its owner and mode, and keeps what is in it. */
function folderArchive(home: string): Buffer {
  const own = { uid: runUser, gid: runUser, mode: 0o700, size: 0, mtime: new Date() };
  const header = new Header({ path: `${home}/`, type: "Directory", ...own });
  header.encode();
  return Buffer.concat([header.block ?? Buffer.alloc(0), Buffer.alloc(1024)]);
}

async function sizes(
  parts: HelperDeps,
  root: string,
  homes: readonly string[],
  signal?: AbortSignal,
): Promise<readonly number[]> {
  const script = `cd ${inside} && for home; do [ -d "$home" ] && du -sk -- "$home" 2>/dev/null; done; true`;
  const errand = { script, words: homes, binds: [`${root}:${inside}:ro`], ...reading };
  const text = await helperOutput(parts, errand, signal);
  const kilobytes = new Map([...text.matchAll(/^(\d+)\t(.+)$/gm)].map(([, size, home]) => [home, Number(size)]));
  return homes.map((home) => ((kilobytes.get(home) ?? 0) * 1024) / 1e6);
}

/**
 * Packed there, so that only what is compressed crosses the line. The only folder in sight is the home itself: a link that
 * its owner's programs put in a folder's place at the wrong moment leads nowhere.
 */
async function* archive(parts: HelperDeps, source: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const folder = { source, target: inside };
  const script = `cd ${inside} && find . -mindepth 1 \\( -type f -o -type d -o -type l \\) -printf '%P\\0' | ${tar}`;
  try {
    yield* runHelper(parts, { script, folder, ...reading }, signal);
  } catch (error) {
    if (isFolderMissing(error)) return yield* packArchive((async function* () {})(), signal);
    throw error;
  }
}

/** As `archive.ts` does: a file that shrinks is filled up, one that grows is cut, one that vanishes is left out. */
const tar = [
  "tar -c -f - --no-recursion --null --verbatim-files-from -T - --hard-dereference --ignore-failed-read",
  `--format=pax --owner=${runUser} --group=${runUser} --numeric-owner --mode=a-st --warning=no-file-changed -I 'gzip -1'`,
].join(" ");
