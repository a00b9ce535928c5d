import type { HomeCount } from "../driver.ts";
import { type ArchiveEntry, textEntry } from "./pack-archive.ts";

/**
 * What is packed of one home. A file of 4 TB without a byte on the disk costs its owner nothing, and would keep every backup
 * from ending: no quota knows such sizes (G311).
 */
export const packLimits = {
  entries: 5_000_000,
  /** Of all its sparse files, those whose blocks are less than an eighth of their size; a disk that compresses has more. */
  holeBytes: 16 * 2 ** 30,
  ms: 4 * 3600_000,
} as const;

const sparseFactor = 8;

type PackLimits = { readonly [Key in keyof typeof packLimits]: number };
type LeftOut = (path: string, why: string) => void;

/** The entries of a home within the limits; `leftOut` gets the others, and once what ended the list early. */
export async function* withinLimits(
  entries: AsyncIterable<ArchiveEntry>,
  leftOut: LeftOut,
  limits: PackLimits = packLimits,
): AsyncGenerator<ArchiveEntry> {
  const endsAtMs = performance.now() + limits.ms;
  let [count, holes] = [0, 0];
  for await (const entry of entries) {
    if (count === limits.entries) return leftOut(entry.path, `all after ${limits.entries} files`);
    if (performance.now() > endsAtMs) return leftOut(entry.path, `all after ${limits.ms / 3600_000} hours`);
    const more = holesOf(entry);
    if (holes + more > limits.holeBytes) {
      leftOut(entry.path, "a sparse file that is much larger than its blocks");
      continue;
    }
    holes += more;
    count += 1;
    yield entry;
  }
}

function holesOf(entry: ArchiveEntry): number {
  if (entry.type !== "File" || entry.blockBytes === undefined) return 0;
  return entry.blockBytes * sparseFactor < entry.size ? entry.size - entry.blockBytes : 0;
}

/** For a reader who did not see what was left out: a last file that names it. */
export async function* listingLeftOut(entries: AsyncIterable<ArchiveEntry>): AsyncGenerator<ArchiveEntry> {
  const lines: string[] = [];
  yield* withinLimits(entries, (path, why) => {
    if (lines.length < 1000) lines.push(`${path}: ${why}\n`);
  });
  if (lines.length > 0) yield textEntry("NOT-IN-THIS-ARCHIVE.txt", lines.join(""));
}

/** Why a home as a whole is not packed; undefined where it is. `mbOf` returns what it takes on the disk. */
export async function unpackable(
  { entries, bytes }: HomeCount,
  mbOf: () => Promise<number>,
): Promise<string | undefined> {
  if (entries > packLimits.entries) return `it has ${entries} files, and ${packLimits.entries} are packed at most`;
  if (bytes <= packLimits.holeBytes) return undefined;
  const mb = await mbOf();
  if (bytes <= mb * 1e6 * sparseFactor + packLimits.holeBytes) return undefined;
  return `its sparse files have ${Math.round(bytes / 1e9)} GB, and ${Math.round(mb / 1e3)} GB on the disk`;
}
