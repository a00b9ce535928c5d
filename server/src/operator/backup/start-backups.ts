import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { type Loop, startInterval } from "../../async/start-interval.ts";
import { type Config, ConfigError } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import type { Logger } from "../../logging/create-logger.ts";
import { backupName, listBackups } from "./backup-name.ts";
import { AnotherBackupRuns, BackupRefused } from "./backup-refused.ts";
import { gapsOf } from "./gaps-of.ts";
import { keepSnapshots, repositoryOf, writeSnapshot } from "./restic.ts";
import { takeBackup } from "./take-backup.ts";
import { underBackupLease } from "./under-backup-lease.ts";
import { writeFile } from "./write-file.ts";

export interface ScheduleDeps {
  readonly db: Db;
  readonly config: Config;
  readonly schedule: NonNullable<Config["backup"]>;
  readonly log: Logger;
  readonly signal?: AbortSignal;
}

const intervalMs = 60_000;
const retryMinutes = 10;

/** Throws ConfigError, before anything runs, for a folder of BACKUP in which no file can be made. */
export async function checkBackupFolder(config: Config, { folder }: ScheduleDeps["schedule"]): Promise<void> {
  if (repositoryOf(folder, config)) return;
  try {
    // As a backup begins. Another worker may take it for the remains of a killed one.
    await rm(await mkdtemp(join(folder, ".berth-backup-")), { recursive: true, force: true });
  } catch (error) {
    throw new ConfigError(
      `Nothing can be written to ${folder}, the folder of BACKUP (${(error as NodeJS.ErrnoException).code}): make it with install -d -m 700, and under systemd name it in ReadWritePaths (docs/operate/backup.md).`,
    );
  }
}

/** Makes a backup whenever one is due (BACKUP, docs/operate/backup.md). A stop ends the one that runs. */
export function startBackups(deps: ScheduleDeps): Loop {
  const stopping = new AbortController();
  const { log } = deps;
  const loop = startInterval({
    name: "backup",
    work: async () => {
      await backupWhenDue({ ...deps, signal: stopping.signal });
      return intervalMs;
    },
    intervalMs,
    log,
  });
  return {
    trigger: loop.trigger,
    async stop() {
      stopping.abort();
      await loop.stop();
    },
  };
}

/** One pass: returns whether a backup was made. A failure is logged and kept in the table; it is tried again later. */
export async function backupWhenDue(deps: ScheduleDeps): Promise<boolean> {
  const { db, config, schedule, log, signal } = deps;
  const { folder, withHomes, keep } = schedule;
  const repository = repositoryOf(folder, config);
  if (!(await isDue(db, schedule, repository ? `${repository.url}#` : `${folder}/`))) return false;
  const place = repository ? `${repository.url}#` : join(folder, backupName(new Date()));
  try {
    const done = await underBackupLease(db, { place, withHomes, signal }, async (onBytes) => {
      if (!repository) await removeFrom(folder, "remains");
      const progress = (_: string, bytes: number) => onBytes(bytes);
      return await takeBackup(
        { db, config, progress, ...(signal && { signal }) },
        { withHomes, tmp: repository ? tmpdir() : folder },
        repository ? writeSnapshot(repository) : writeFile(place),
      );
    });
    await (repository ? keepSnapshots(repository, keep) : removeFrom(folder, "backups", keep));
    log.info({ event: "backup.done", bytes: done.bytes }, `Backup ${done.place} is written`);
    for (const gap of gapsOf(done.manifest)) log.warn({ event: "backup.incomplete" }, gap);
    return true;
  } catch (err) {
    // Another worker was first, or the operator: the next pass finds out whether one is due still.
    const isOurs = !(signal?.aborted || err instanceof AnotherBackupRuns);
    if (isOurs) log.error({ event: "backup.failed", err }, `Backup ${place} was not made`);
    return false;
  }
}

/** By this schedule's own folder: a backup that the operator makes elsewhere puts off none. */
async function isDue(db: Db, { everyHours }: ScheduleDeps["schedule"], prefix: string): Promise<boolean> {
  const { rows } = await sql<{ is_due: boolean }>`
    select not exists (
      select 1 from backups where starts_with(place, ${prefix})
        and started_at > now() - case when error is null then make_interval(hours => ${everyHours}) else make_interval(mins => ${retryMinutes}) end
    ) as is_due`.execute(db);
  return rows[0]?.is_due ?? false;
}

/** Deletes what a killed backup left, or all but the newest backups. */
async function removeFrom(folder: string, kind: "remains" | "backups", keep = 0): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    throw new BackupRefused(`The folder of BACKUP cannot be read: ${folder} (${error.code}).`);
  });
  for (const name of listBackups(names)[kind].slice(keep))
    await rm(join(folder, name), { recursive: true, force: true });
}
