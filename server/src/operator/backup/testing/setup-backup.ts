import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { readConfig } from "../../../config/config.ts";
import type { Db } from "../../../database/database.ts";
import { testDatabase } from "../../../database/testing.ts";
import { installationOf } from "../../../installation/installation.ts";
import { databaseUrl } from "../../testing/run-operator.ts";
import { postgresTools } from "../postgres-tools.ts";
import { takeBackup } from "../take-backup.ts";
import { writeFile } from "../write-file.ts";

/** Kept between runs: the programs are fetched once. */
export const runtimes = join(import.meta.dirname, "../../../../../node_modules/.cache/berth/runtimes");

/** Of the installations of these tests. */
export const secret = "5".repeat(64);
export const trust = { secret } as const;

/** Why no backup can be made here; undefined where one can. */
export async function whyNoTools(): Promise<string | undefined> {
  return await postgresTools(18, runtimes).then(
    () => undefined,
    (error: Error) => error.message,
  );
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-backup-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

/** An installation with a database of its own or the given one, a data folder and a place for backups. */
export async function setupBackup(given?: Db) {
  const db = given ?? (await ownDatabase());
  const folder = temporaryFolder();
  const dataDir = join(folder, "data");
  mkdirSync(join(dataDir, "homes"), { recursive: true });
  writeFileSync(join(dataDir, "secret"), secret, { mode: 0o600 });
  writeFileSync(join(dataDir, "operator-key"), "6".repeat(64), { mode: 0o600 });
  const { id: installation } = await installationOf(db);
  const DATABASE_URL = await databaseUrl(db);
  const env = { DATABASE_URL, DATA_DIR: dataDir, RUNTIMES_DIR: runtimes };
  const config = readConfig(env);
  const file = join(folder, "backup.tar.gz");
  return {
    db,
    folder,
    dataDir,
    installation,
    env,
    config,
    file,
    take: (withHomes = true) =>
      takeBackup({ db, config, progress: () => {} }, { withHomes, tmp: folder }, writeFile(file)),
  };
}

async function ownDatabase(): Promise<Db> {
  const database = await testDatabase();
  onTestFinished(database.close);
  return database.db;
}
