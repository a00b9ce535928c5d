import { sql } from "kysely";
import type { Config } from "../../config/config.ts";
import type { Db } from "../../database/database.ts";
import { lastBackup } from "../../installation/last-backup.ts";
import { formatDuration } from "../../text/format-duration.ts";

export type BackupSchedule = Pick<NonNullable<Config["backup"]>, "everyHours">;

/** How old the last backup may be: as long as BACKUP says, or a day, and two hours for the next one itself. */
export function allowedSeconds(schedule: BackupSchedule | undefined): number {
  return ((schedule?.everyHours ?? 24) + 2) * 3600;
}

/** A sentence when the last try failed, which a day's allowance would hide. */
async function failedBackup(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ age: number; place: string; error: string | null }>`
    select extract(epoch from now() - ended_at)::float8 as age, place, error from backups
    where ended_at is not null order by ended_at desc limit 1`.execute(db);
  return rows.flatMap(({ age, place, error }) =>
    error === null ? [] : [`The last one, to ${place}, failed ${formatDuration(age)} ago: ${error}`],
  );
}

/** What is wrong with the backups: the last try failed, or the last success is too old. */
export async function backupFaults(db: Db, schedule: BackupSchedule | undefined): Promise<readonly string[]> {
  return [...(await failedBackup(db)), ...(await lateBackup(db, schedule))];
}

/** A sentence when the last backup is too old. A new installation has as long as one with a backup. */
async function lateBackup(db: Db, schedule: BackupSchedule | undefined): Promise<readonly string[]> {
  const allowed = allowedSeconds(schedule);
  const last = await lastBackup(db);
  if (last) {
    const { ageSeconds, place } = last;
    return ageSeconds > allowed ? [`The last one ended ${formatDuration(ageSeconds)} ago: ${place}`] : [];
  }
  const { rows } = await sql<{ age: number }>`
    select extract(epoch from now() - started_at)::float8 as age from installation`.execute(db);
  return (rows[0]?.age ?? 0) > allowed ? ["No backup of this installation has succeeded"] : [];
}
