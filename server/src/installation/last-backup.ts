import { sql } from "kysely";
import type { Db } from "../database/database.ts";

export interface LastBackup {
  readonly endedAt: Date;
  /** By the database's clock. */
  readonly ageSeconds: number;
  /** File, folder or repository. */
  readonly place: string;
  readonly bytes: number;
  readonly withHomes: boolean;
}

/** The last backup of this installation that succeeded; undefined: there was none (docs/operate/backup.md). */
export async function lastBackup(db: Db): Promise<LastBackup | undefined> {
  const { rows } = await sql<{ ended_at: Date; age: number; place: string; bytes: number; with_homes: boolean }>`
    select ended_at, extract(epoch from now() - ended_at)::float8 as age, place, bytes, with_homes from backups
    where ended_at is not null and error is null order by ended_at desc limit 1`.execute(db);
  const [row] = rows;
  if (!row) return undefined;
  const { ended_at: endedAt, age: ageSeconds, place, bytes, with_homes: withHomes } = row;
  return { endedAt, ageSeconds, place, bytes, withHomes };
}
