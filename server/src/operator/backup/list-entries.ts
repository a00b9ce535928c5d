import { existsSync } from "node:fs";
import { access, constants, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { homeEntries } from "../../drivers/homes/home-entries.ts";
import type { ArchiveEntry } from "../../drivers/homes/pack-archive.ts";
import { textEntry } from "./archive-bytes.ts";
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
    const summary = { home, files: 0, bytes: 0, unreadable: 0 };
    yield* folderEntries(`${homesName}/${home}`, join(dataDir, homesName, home), {
      denied: () => void summary.unreadable++,
      onFile: (size) => {
        summary.files++;
        summary.bytes += size;
      },
    });
    summarize(summary);
  }
}

/** A folder and all below it, closed to others. */
export async function* folderEntries(
  prefix: string,
  folder: string,
  {
    denied = () => {},
    onFile = () => {},
  }: { readonly denied?: () => void; readonly onFile?: (size: number) => void } = {},
): AsyncGenerator<ArchiveEntry> {
  const { uid, gid, mtime: modifiedAt } = await lstat(folder);
  await access(folder, constants.R_OK | constants.X_OK).catch(denied);
  yield { ...folderEntry(prefix), owner: { uid, gid }, modifiedAt };
  for await (const entry of homeEntries(folder, denied)) {
    yield { ...entry, path: `${prefix}/${entry.path}` };
    if (entry.type === "File") onFile(entry.size);
  }
}

function folderEntry(path: string): ArchiveEntry {
  return { type: "Directory", path, mode: 0o700, modifiedAt: new Date() };
}
