import { statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { plural } from "@berth/contract";
import type { Config } from "../../config/config.ts";
import { operatorCommand, startCommand } from "../../text/operator-command.ts";
import type { Command, Options } from "../parse-command.ts";
import { withDatabase } from "../with-database.ts";
import { backupName } from "./backup-name.ts";
import { BackupRefused } from "./backup-refused.ts";
import { trustOf } from "./backup-signature.ts";
import { gapsOf } from "./gaps-of.ts";
import type { Manifest } from "./manifest.ts";
import { openArchive } from "./open-archive.ts";
import { openSnapshot, repositoryOf, writeSnapshot } from "./restic.ts";
import { restoreBackup } from "./restore-backup.ts";
import { type OpenArchive, type Staged, stageBackup } from "./stage-backup.ts";
import { takeBackup, toolsFolder } from "./take-backup.ts";
import { underBackupLease } from "./under-backup-lease.ts";
import { writeFile } from "./write-file.ts";

/** Backups of the installation (docs/operate/backup.md). */
export const backupCommands: readonly Command[] = [
  {
    name: "backup",
    args: ["FILE | FOLDER | s3://BUCKET/PATH"],
    options: { homes: "" },
    about:
      "writes database, secret and keys into one file, with --homes the files of environments too; the server goes on",
    example: "backup /var/lib/berth-backups --homes",
    run: (config, [place = ""], { homes }) => backup(config, place, homes !== undefined),
  },
  {
    name: "backup verify",
    args: ["FILE | s3://BUCKET/PATH"],
    options: { secret: "FILE", foreign: "" },
    about: "restores a backup into a temporary folder, compares every file and row, and checks the money",
    example: "backup verify /var/lib/berth-backups/berth-20261123T020000Z.tar.gz",
    run: (config, [file = ""], options) => verify(config, file, options),
  },
  {
    name: "restore",
    args: ["FILE | s3://BUCKET/PATH"],
    options: { "homes-lost": "", secret: "FILE", foreign: "" },
    about:
      "restores a backup, signed with the secret in --secret FILE, into an empty DATA_DIR, and an empty database where DATABASE_URL is set",
    example: "restore /var/lib/berth-backups/berth-20261123T020000Z.tar.gz",
    run: (config, [file = ""], options) => restore(config, file, options),
  },
];

async function backup(config: Config, place: string, withHomes: boolean): Promise<void> {
  const repository = repositoryOf(place, config);
  const file = repository?.url ?? fileAt(resolve(place));
  const write = repository ? writeSnapshot(repository) : writeFile(file);
  const tmp = repository ? tmpdir() : dirname(file);
  const startedAtMs = Date.now();
  const done = await withDatabase(config, (db) =>
    underBackupLease(db, { place: file, withHomes }, (onBytes) => {
      const progress = (line: string, written: number) => {
        onBytes(written);
        console.log(`${seconds(startedAtMs)} ${line}${written > 0 ? ` ${size(written)}` : ""}`);
      };
      return takeBackup({ db, config, progress }, { withHomes, tmp }, write);
    }),
  );
  const { manifest } = done;
  console.log(`${done.place} is written: ${size(done.bytes)} in ${seconds(startedAtMs)}, ${contentOf(manifest)}.`);
  for (const gap of gapsOf(manifest)) console.error(gap);
  if (repository) return console.log("Whoever has the repository's password has the secret and all customers' data.");
  console.log(
    `It has the secret and all customers' data, unencrypted: keep it where only you can read it. Check it with: ${operatorCommand("backup verify FILE")}`,
  );
}

/** A new name in a folder that exists; else the file itself. */
function fileAt(place: string): string {
  if (!statSync(place, { throwIfNoEntry: false })?.isDirectory()) {
    if (statSync(dirname(place), { throwIfNoEntry: false })?.isDirectory()) return place;
    throw new BackupRefused(`There is no folder ${dirname(place)}.`);
  }
  return join(place, backupName(new Date()));
}

async function verify(config: Config, file: string, options: Options): Promise<void> {
  const startedAtMs = Date.now();
  const folder = await mkdtemp(join(tmpdir(), "berth-verify-"));
  try {
    const runtimes = toolsFolder(config);
    const progress = (line: string) => console.log(`${seconds(startedAtMs)} ${line}`);
    const trust = await trustOf(config, { file: options["secret"], isForeign: options["foreign"] !== undefined });
    const how = { trust, withHomes: false, fsync: false, runtimes, progress };
    const staged = await stageBackup(await openPlace(config, file), folder, how);
    console.log(`${file} is whole: ${contentOf(staged.manifest)}. Checked in ${seconds(startedAtMs)}.`);
    reportBroken(staged);
    if (staged.broken.length > 0) process.exitCode = 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function restore(config: Config, file: string, options: Options): Promise<void> {
  const startedAtMs = Date.now();
  const progress = (line: string) => console.log(`${seconds(startedAtMs)} ${line}`);
  const trust = await trustOf(config, { file: options["secret"], isForeign: options["foreign"] !== undefined });
  const homesLost = options["homes-lost"] !== undefined;
  const restored = await restoreBackup(config, await openPlace(config, file), { homesLost, trust, progress });
  const { notes, manifest } = restored;
  console.log(`${resolve(config.dataDir)} is restored in ${seconds(startedAtMs)}: ${contentOf(manifest)}.`);
  reportBroken(restored);
  for (const note of notes) console.log(note);
  console.log(`Start the server now: ${startCommand}`);
}

async function openPlace(config: Config, place: string): Promise<OpenArchive> {
  const repository = repositoryOf(place, config);
  return repository ? await openSnapshot(place, repository) : () => openArchive(place);
}

function reportBroken({ broken }: Staged): void {
  for (const { invariant, id, what } of broken) console.error(`Broken invariant: ${invariant}: ${id} ${what}`);
}

function contentOf({ version, madeAt, tables, homes, elsewhere = [] }: Manifest): string {
  const rows = Object.values(tables).reduce((sum, count) => sum + count, 0);
  const files = homes?.reduce((sum, each) => sum + each.files, 0);
  const bytes = homes?.reduce((sum, each) => sum + each.bytes, 0) ?? 0;
  const packed = homes
    ? `${plural(homes.length, "home")} with ${plural(files ?? 0, "file")} (${size(bytes)})`
    : "no homes";
  const read = elsewhere.filter((each) => each.bytes !== null);
  const others = read.length > 0 ? `, ${plural(read.length, "home")} of other hosts` : "";
  return `version ${version}, ${madeAt}, ${rows} rows in ${Object.keys(tables).length} tables, ${packed}${others}`;
}

function size(bytes: number): string {
  if (bytes < 2 ** 20) return `${Math.ceil(bytes / 1024)} KiB`;
  return bytes < 2 ** 30 ? `${Math.ceil(bytes / 2 ** 20)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`;
}

function seconds(fromMs: number): string {
  return `${((Date.now() - fromMs) / 1000).toFixed(1)} s`;
}
