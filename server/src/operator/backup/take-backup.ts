import { existsSync, mkdirSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { defaultCatalogue } from "@berth/contract";
import { sql } from "kysely";
import { type Config, version } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import { catalogueFile } from "../../drivers/docker/images/image-catalogue.ts";
import type { ArchiveEntry } from "../../drivers/homes/pack-archive.ts";
import { connectionOf } from "../with-database.ts";
import { archiveBytes, fileEntry, textEntry } from "./archive-bytes.ts";
import { BackupRefused } from "./backup-refused.ts";
import { dumpDatabase } from "./dump-database.ts";
import { folderEntries, type HomeSummary, homesEntries } from "./list-entries.ts";
import { dumpName, type Manifest, secretName } from "./manifest.ts";
import { postgresTools } from "./postgres-tools.ts";
import type { Taken, WriteArchive } from "./write-file.ts";

export interface BackupDeps {
  readonly db: Db;
  readonly config: Config;
  /** Called every few seconds and at each step, with a line for people and the bytes that are written. */
  readonly progress: (line: string, bytes: number) => void;
  /** Ends the backup; nothing of it stays. */
  readonly signal?: AbortSignal;
}

/**
 * Writes a backup of this installation: the database as of one moment, then what lies in the data folder beside it
 * (docs/operate/backup.md). The server goes on meanwhile. `tmp` is a folder with room for the dump. Throws BackupRefused.
 */
export async function takeBackup(
  { db, config, progress, signal }: BackupDeps,
  { withHomes, tmp }: { readonly withHomes: boolean; readonly tmp: string },
  write: WriteArchive,
): Promise<Taken & { readonly manifest: Manifest }> {
  const dataDir = resolve(config.dataDir);
  mkdirSync(tmp, { recursive: true });
  const folder = await mkdtemp(join(tmp, ".berth-backup-"));
  try {
    const tools = await postgresTools(await serverMajor(db), toolsFolder(config));
    progress("The database is dumped.", 0);
    const dump = join(folder, dumpName);
    const dumped = await dumpDatabase({ db, connection: connectionOf(config), tools, folder, signal }, dump);
    const homes: HomeSummary[] = [];
    const summarize = (home: HomeSummary) => void homes.push(home);
    const entries = entriesOf({ config, dataDir, dump, installation: dumped.installation, withHomes }, summarize);
    const manifests: Manifest[] = [];
    const manifestOf = (sums: string): Manifest => {
      const secretFrom = config.secret === undefined ? "DATA_DIR" : "IDENTITY_SECRET";
      const parts = { ...dumped, secretFrom, sums, ...(withHomes && { homes }) } as const;
      manifests[0] = { format: 1, madeAt: new Date().toISOString(), version, ...parts };
      return manifests[0];
    };
    const bytes = archiveBytes(entries, join(folder, "sums"), manifestOf);
    const onBytes = (written: number) => progress(`${homes.length} homes are packed.`, written);
    const taken = await write(bytes, onBytes, signal);
    if (!manifests[0]) throw new BackupRefused("The backup ended before its manifest.");
    return { ...taken, manifest: manifests[0] };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Where pg_dump is kept when PATH has none that fits. */
export function toolsFolder({ runtimesDir, dataDir }: Config): string {
  return resolve(runtimesDir ?? join(dataDir, "runtimes"));
}

async function serverMajor(db: Db): Promise<number> {
  const { rows } = await sql<{ server_version_num: string }>`show server_version_num`.execute(db);
  return Math.floor(Number(rows[0]?.server_version_num) / 10_000);
}

interface Sources {
  readonly config: Config;
  readonly dataDir: string;
  readonly dump: string;
  readonly installation: string;
  readonly withHomes: boolean;
}

/** Names are those of the data folder, as far as they stand in it. */
async function* entriesOf(
  { config, dataDir, dump, installation, withHomes }: Sources,
  summarize: (home: HomeSummary) => void,
): AsyncGenerator<ArchiveEntry> {
  yield fileEntry(dumpName, dump);
  const secret = config.secret ?? (await readFile(join(dataDir, secretName), "utf8").catch(() => undefined));
  if (secret === undefined)
    throw new BackupRefused(
      `There is no secret in ${dataDir}: run the backup where the server runs, with its DATA_DIR.`,
    );
  yield textEntry(secretName, secret);
  if (existsSync(join(dataDir, "operator-key"))) yield fileEntry("operator-key", join(dataDir, "operator-key"));
  if (existsSync(catalogueFile)) yield fileEntry("restored/images-catalogue.json", catalogueFile);
  if (config.catalogue !== defaultCatalogue)
    yield textEntry("restored/catalogue.json", `${JSON.stringify(config.catalogue, null, 2)}\n`);
  if (existsSync(join(dataDir, "hosts"))) yield* folderEntries("hosts", join(dataDir, "hosts"));
  if (withHomes) yield* homesEntries(dataDir, installation, summarize);
}
