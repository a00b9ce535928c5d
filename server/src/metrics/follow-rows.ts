import { sql } from "kysely";
import type { Db } from "../database/database.ts";

/** How long a transaction may last from the stamp of a row to its commit, so that no row is passed over. */
const overlapSeconds = 120;

/** Rows that were written after a moment, by the time that they carry. */
export type ReadSince<Row> = (db: Db, since: Date) => Promise<readonly Row[]>;

/** Returns a function that returns each row once that was written since its first call. */
export function followRows<Row extends { readonly id: string }>(
  read: ReadSince<Row>,
): (db: Db) => Promise<readonly Row[]> {
  let until: Date | undefined;
  let seen: ReadonlySet<string> = new Set();
  return async (db) => {
    const now = await databaseNow(db);
    const isFirst = until === undefined;
    const rows = await read(db, new Date((until ?? now).getTime() - overlapSeconds * 1000));
    const fresh = rows.filter(({ id }) => !seen.has(id));
    until = now;
    seen = new Set(rows.map(({ id }) => id));
    return isFirst ? [] : fresh;
  };
}

async function databaseNow(db: Db): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(db);
  return rows[0]?.now ?? new Date();
}
