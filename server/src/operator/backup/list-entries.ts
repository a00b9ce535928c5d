import { existsSync } from "node:fs";
import { access, constants, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { homeEntries } from "../../drivers/homes/home-entries.ts";
import { type ArchiveEntry, textEntry } from "../../drivers/homes/pack-archive.ts";
import { withinLimits } from "../../drivers/homes/pack-limits.ts";
import { oneLine } from "../print-rows.ts";
import { homesName, type Manifest } from "./manifest.ts";

export type HomeSummary = NonNullable<Manifest["homes"]>[number];

/** The folders of the homes on this machine; deleted ones and others' begin with a dot. */
async function homesIn(dataDir: string): Promise<readonly string[]> {
  const folder = join(dataDir, homesName);
  if (!existsSync(folder)) return [];
  return (await readdir(folder, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => name)
    .sort();
}

/** Every home with its files, and after each its summary. */
export async function* homesEntries(
  dataDir: string,
  installation: string,
  summarize: (summary: HomeSummary) => void,
): AsyncGenerator<ArchiveEntry> {
  yield folderEntry(homesName);
  yield textEntry(`${homesName}/.installation`, `${installation}\n`);
  for (const home of await homesIn(dataDir)) {
    const summary: { -readonly [Key in keyof HomeSummary]: HomeSummary[Key] } = {
      ...{ home, files: 0, bytes: 0, unreadable: 0 },
    };
    yield* folderEntries(`${homesName}/${home}`, join(dataDir, homesName, home), {
      leftOut(path, why) {
        const { count, first } = summary.leftOut ?? { count: 0, first: oneLine(`${path} (${why})`).slice(0, 300) };
        summary.leftOut = { count: count + 1, first };
      },
      denied: () => void summary.unreadable++,
      onFile: (size) => {
        summary.files++;
        summary.bytes += size;
      },
    });
    summarize(summary);
  }
}

interface Listeners {
  readonly denied?: () => void;
  readonly leftOut?: (path: string, why: string) => void;
  readonly onFile?: (size: number) => void;
}

/** A folder and all below it within `packLimits`, closed to others. */
export async function* folderEntries(
  prefix: string,
  folder: string,
  { denied = () => {}, leftOut = () => {}, onFile = () => {} }: Listeners = {},
): AsyncGenerator<ArchiveEntry> {
  const { uid, gid, mtime: modifiedAt } = await lstat(folder);
  await access(folder, constants.R_OK | constants.X_OK).catch(denied);
  yield { ...folderEntry(prefix), owner: { uid, gid }, modifiedAt };
  const special = (path: string) => leftOut(path, "a FIFO or a socket");
  for await (const entry of withinLimits(homeEntries(folder, denied, special), leftOut)) {
    // It would be restored under another name.
    if (entry.path.includes("\ufffd")) {
      leftOut(entry.path, "its name is not UTF-8");
      continue;
    }
    yield { ...entry, path: `${prefix}/${entry.path}` };
    if (entry.type === "File") onFile(entry.size);
  }
}

function folderEntry(path: string): ArchiveEntry {
  return { type: "Directory", path, mode: 0o700, modifiedAt: new Date() };
}
