import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { type Config, ConfigError } from "../../config/config.ts";
import { postmasterOf } from "../../database/embedded/postmaster-of.ts";
import { recordName } from "../../drivers/docker/images/image-catalogue.ts";
import { imagesCommand } from "../../text/operator-command.ts";
import { BackupRefused } from "./backup-refused.ts";
import type { Trust } from "./backup-signature.ts";
import { dumpName, elsewhereName, homesName, type Manifest, manifestName, secretName, sumsName } from "./manifest.ts";
import { openExternal } from "./open-external.ts";
import { type OpenArchive, type Staged, stageBackup } from "./stage-backup.ts";
import { openStaging } from "./staging.ts";

interface RestoreOptions {
  /** The homes are gone for good: their environments start no more, and the server does. */
  readonly homesLost: boolean;
  readonly trust: Trust;
  readonly progress: (line: string) => void;
}

/**
 * Restores a backup into an empty data folder, and where DATABASE_URL is set into that empty database. Everything is checked
 * in a folder beside it first, which becomes the data folder at the end. Throws BackupRefused; then nothing is changed.
 * Returns what is left to do, as sentences.
 */
export async function restoreBackup(
  config: Config,
  open: OpenArchive,
  { homesLost, trust, progress }: RestoreOptions,
): Promise<Staged & { readonly notes: readonly string[] }> {
  const dataDir = resolve(config.dataDir);
  await checkEmpty(dataDir);
  const external = config.database.kind === "external" ? await openExternal(config.database.url, trust) : undefined;
  const staging = await openStaging(dataDir);
  const { folder } = staging;
  try {
    const runtimes = resolve(config.runtimesDir ?? join(folder, "runtimes"));
    const staged = await stageBackup(open, folder, { trust, withHomes: true, fsync: true, runtimes, progress });
    const notes = [
      ...(await placeSecret(config.secret, folder, dataDir, staged.manifest)),
      ...(await placeHomes(config, folder, staged.manifest, homesLost)),
      ...(await placeImages(folder)),
      ...restoredFiles.flatMap(([name, note]) =>
        existsSync(join(folder, "restored", name)) ? [note(join(dataDir, "restored", name))] : [],
      ),
    ];
    if (external) {
      progress("The database is restored to DATABASE_URL.");
      await external(folder, runtimes);
      await rm(join(folder, "database"), { recursive: true });
    }
    for (const name of [dumpName, manifestName, sumsName]) await rm(join(folder, name));
    await staging.finish();
    return { ...staged, notes };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Files that lay outside of the data folder, and what to do with each. */
const restoredFiles: readonly (readonly [name: string, note: (path: string) => string])[] = [
  ["catalogue.json", (path) => `Prices and types were those of ${path}: set CATALOGUE to it, or to a copy.`],
  [
    basename(elsewhereName),
    (path) =>
      `Homes of hosts on other machines: nothing was sent there. Where one has lost them, ${path} has an archive of each (docs/operate/backup.md).`,
  ],
];

async function checkEmpty(dataDir: string): Promise<void> {
  if (postmasterOf(join(dataDir, "database", "cluster")))
    throw new BackupRefused(
      `A server runs on ${dataDir}: stop it and move its folder away, or set DATA_DIR to a new folder.`,
    );
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new ConfigError(`DATA_DIR ${dataDir} cannot be read (${error.code}).`);
  });
  const found = names.filter((name) => name !== "lost+found").sort();
  if (found.length > 0)
    throw new BackupRefused(
      `${dataDir} is not empty (${found.slice(0, 3).join(", ")}): move it away, or set DATA_DIR to a new folder.`,
    );
}

/** A server with another secret would refuse all sign-ins and links of the restored database. */
async function placeSecret(
  given: string | undefined,
  folder: string,
  dataDir: string,
  { secretFrom }: Manifest,
): Promise<readonly string[]> {
  const file = join(folder, secretName);
  const own = await readFile(file, "utf8");
  if (given !== undefined && given.trim() !== own.trim())
    throw new BackupRefused(
      "IDENTITY_SECRET is not the secret of the backup: unset it, or set it to the one of that installation.",
    );
  if (secretFrom === "DATA_DIR") return [];
  if (given !== undefined) await rm(file);
  if (given !== undefined) return [];
  await mkdir(join(folder, "restored"), { recursive: true, mode: 0o700 });
  await rename(file, join(folder, "restored", "identity-secret"));
  return [`Set IDENTITY_SECRET to the content of ${dataDir}/restored/identity-secret before the start.`];
}

/** The images themselves are in no backup. */
async function placeImages(folder: string): Promise<readonly string[]> {
  const kept = join(folder, "restored", "images-catalogue.json");
  if (!existsSync(kept)) return [];
  await rename(kept, join(folder, recordName));
  // Nothing else may have been outside of the data folder.
  await rmdir(join(folder, "restored")).catch(() => {});
  return [`Images: the record of those in use is in place. Those that this machine lacks: ${imagesCommand()}.`];
}

async function placeHomes(
  { dataDir, runtime }: Config,
  folder: string,
  { homes, installation }: Manifest,
  homesLost: boolean,
): Promise<readonly string[]> {
  // Those of a cluster are its volumes.
  if (homes || runtime === "kubernetes") return [];
  if (!homesLost)
    return [
      `The backup has no homes: put the folder of homes at ${resolve(dataDir)}/${homesName} before the start. Where they are lost, restore again with --homes-lost.`,
    ];
  await mkdir(join(folder, homesName), { mode: 0o700 });
  await writeFile(join(folder, homesName, ".installation"), `${installation}\n`, { mode: 0o600 });
  return ["The homes are lost: their environments start no more, and their owners are told so."];
}
