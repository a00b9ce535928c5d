import { sql } from "kysely";
import type { Db } from "./database.ts";

/** How far this machine's clock is ahead of the database's, in milliseconds; exact to half of the call's duration. */
export async function clockOffsetMs(db: Db): Promise<number> {
  const from = Date.now();
  const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
  return (from + Date.now()) / 2 - (rows[0]?.now ?? new Date()).getTime();
}
