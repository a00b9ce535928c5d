import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { newId } from "../../database/new-id.ts";
import { AnotherBackupRuns } from "./backup-refused.ts";

interface Planned {
  readonly place: string;
  readonly withHomes: boolean;
  /** Aborted: the backup was told to stop, which is no failure of it. */
  readonly signal?: AbortSignal | undefined;
}

const renewMs = 15_000;
/** Eight missed renewals. */
const staleSeconds = 120;
const keptRows = 100;

/**
 * Runs one backup at a time in this installation, and keeps its outcome, but nothing of one that a stop ended: that is due
 * as before. `work` reports the bytes that are written. Throws AnotherBackupRuns while one runs.
 */
export async function underBackupLease<T extends { readonly place: string; readonly bytes: number }>(
  db: Db,
  { place, withHomes, signal }: Planned,
  work: (onBytes: (bytes: number) => void) => Promise<T>,
): Promise<T> {
  const id = newId();
  await begin(db, { id, place, with_homes: withHomes });
  let bytes = 0;
  const renew = () =>
    db
      .updateTable("backups")
      .set({ seen_at: sql`now()`, bytes })
      .where("id", "=", id)
      .execute()
      .catch(() => {});
  const timer = setInterval(renew, renewMs);
  try {
    const done = await work((written) => {
      bytes = written;
    });
    await end(db, id, { bytes: done.bytes, place: done.place });
    return done;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    // The fault of the backup is worth more than that of its record.
    await (signal?.aborted ? forget(db, id) : end(db, id, { bytes, error: text.slice(0, 500) })).catch(() => {});
    throw error;
  } finally {
    clearInterval(timer);
  }
}

async function begin(db: Db, row: { readonly id: string; readonly place: string; readonly with_homes: boolean }) {
  await db
    .updateTable("backups")
    .set({ ended_at: sql`now()`, error: "It was killed" })
    .where("ended_at", "is", null)
    .where("seen_at", "<", sql<Date>`now() - make_interval(secs => ${staleSeconds})`)
    .execute();
  const { numInsertedOrUpdatedRows } = await db
    .insertInto("backups")
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirstOrThrow();
  if (numInsertedOrUpdatedRows === 0n) throw new AnotherBackupRuns();
}

async function forget(db: Db, id: string): Promise<void> {
  await db.deleteFrom("backups").where("id", "=", id).execute();
}

async function end(
  db: Db,
  id: string,
  outcome: { readonly bytes: number; readonly place?: string; readonly error?: string },
): Promise<void> {
  await db
    .updateTable("backups")
    .set({ ...outcome, ended_at: sql`now()` })
    .where("id", "=", id)
    .execute();
  await sql`delete from backups where ended_at < (
    select ended_at from backups where ended_at is not null order by ended_at desc offset ${keptRows} limit 1)
    and id <> (select id from backups where error is null and ended_at is not null order by ended_at desc limit 1)`.execute(
    db,
  );
}
