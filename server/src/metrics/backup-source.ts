import { sql } from "kysely";
import { allowedSeconds, type BackupSchedule } from "../operator/doctor/late-backup.ts";
import type { DatabaseSource } from "./database-source.ts";

/** What doctor says of backups, as gauges (docs/operate/backup.md). */
export function backupSource(schedule: BackupSchedule | undefined): DatabaseSource {
  return {
    labels: [],
    gauges: {
      age: {
        name: "berth_backup_age_seconds",
        help: "Time since the last backup that succeeded; without one, since the installation began.",
      },
      late: {
        name: "berth_backup_late",
        help: "1: that is longer than the schedule of BACKUP allows, or without one more than a day.",
      },
    },
    rows: sql`
      select age, (age > ${allowedSeconds(schedule)})::int::float8 as late from (
        select extract(epoch from now() - coalesce(
          (select max(ended_at) from backups where error is null), started_at))::float8 as age from installation) a`,
  };
}
