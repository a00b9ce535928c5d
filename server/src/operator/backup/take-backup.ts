import { existsSync, mkdirSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { defaultCatalogue, plural } from "@berth/contract";
import { sql } from "kysely";
import { type Config, version } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import { imageRecord, replacedImages } from "../../drivers/docker/images/image-catalogue.ts";
import { imagesOf } from "../../drivers/docker/images/images-of.ts";
import { type ArchiveEntry, textEntry } from "../../drivers/homes/pack-archive.ts";
import { addedClusters, openAddedClusters } from "../../environments/hosts/added-clusters.ts";
import { openRemoteHosts } from "../../environments/hosts/start-remote-hosts.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { connectionOf } from "../with-database.ts";
import { archiveBytes, fileEntry } from "./archive-bytes.ts";
import { BackupRefused } from "./backup-refused.ts";
import { signatureOf } from "./backup-signature.ts";
import { dumpDatabase } from "./dump-database.ts";
import { elsewhereEntries } from "./elsewhere-entries.ts";
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
    const secret = await secretOf(config, dataDir);
    const tools = await postgresTools(await serverMajor(db), toolsFolder(config));
    progress("The database is dumped.", 0);
    const dump = join(folder, dumpName);
    const dumped = await dumpDatabase({ db, connection: connectionOf(config), tools, folder, signal }, dump);
    const packed: Packed = { homes: [], elsewhere: [] };
    const entries = entriesOf({ db, config, dataDir, secret, dump, folder, signal, ...dumped, withHomes }, packed);
    const manifests: Manifest[] = [];
    const manifestOf = (sums: string): Manifest => {
      const secretFrom = config.secret === undefined ? "DATA_DIR" : "IDENTITY_SECRET";
      const parts = { ...dumped, secretFrom, sums, ...(withHomes && packed) } as const;
      const manifest: Manifest = { format: 1, madeAt: new Date().toISOString(), version, ...parts };
      manifests[0] = { ...manifest, signature: signatureOf(secret, manifest) };
      return manifests[0];
    };
    const bytes = archiveBytes(entries, join(folder, "sums"), manifestOf);
    const onBytes = (written: number) =>
      progress(`${plural(packed.homes.length + packed.elsewhere.length, "home is", "homes are")} packed.`, written);
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

async function secretOf(config: Config, dataDir: string): Promise<string> {
  const secret = config.secret ?? (await readFile(join(dataDir, secretName), "utf8").catch(() => undefined));
  if (secret !== undefined) return secret;
  throw new BackupRefused(`There is no secret in ${dataDir}: run the backup where the server runs, with its DATA_DIR.`);
}

interface Packed {
  readonly homes: HomeSummary[];
  readonly elsewhere: NonNullable<Manifest["elsewhere"]>;
}

interface Sources {
  readonly db: Db;
  readonly config: Config;
  readonly dataDir: string;
  readonly secret: string;
  readonly dump: string;
  /** For temporary files. */
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
  readonly installation: string;
  readonly withHomes: boolean;
}

/** Names are those of the data folder, as far as they stand in it. */
async function* entriesOf(sources: Sources, packed: Packed): AsyncGenerator<ArchiveEntry> {
  const { config, dataDir, secret, dump, installation, withHomes } = sources;
  yield fileEntry(dumpName, dump);
  yield textEntry(secretName, secret);
  if (existsSync(join(dataDir, "operator-key"))) yield fileEntry("operator-key", join(dataDir, "operator-key"));
  const record = imageRecord(dataDir);
  if (existsSync(record)) yield fileEntry("restored/images-catalogue.json", record);
  if (config.catalogue !== defaultCatalogue)
    yield textEntry("restored/catalogue.json", `${JSON.stringify(config.catalogue, null, 2)}\n`);
  if (existsSync(join(dataDir, "hosts"))) yield* folderEntries("hosts", join(dataDir, "hosts"));
  if (!withHomes) return;
  yield* homesEntries(dataDir, installation, (home) => void packed.homes.push(home));
  yield* otherHomes(sources, packed);
}

async function* otherHomes(sources: Sources, { elsewhere }: Packed): AsyncGenerator<ArchiveEntry> {
  const { db, config, dataDir, installation: install } = sources;
  const keys = { folder: join(dataDir, "hosts"), sshAgent: config.sshAgent };
  const images = { images: imagesOf(config), replaced: () => replacedImages(imageRecord(dataDir)) };
  const hosts = await openRemoteHosts(db, { install, ...keys, ...images, log: silentLogger });
  const clusters = await openAddedClusters(await addedClusters(db), { config, dataDir, install });
  try {
    yield* elsewhereEntries({ ...sources, hosts: [...hosts, ...clusters] }, (home) => void elsewhere.push(home));
  } finally {
    for (const { close } of hosts) await close();
  }
}
