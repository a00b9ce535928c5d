import { existsSync, readFileSync } from "node:fs";
import { sql } from "kysely";
import type { Db } from "../../server/src/database/database.ts";

/** A clock of the CPU time that this process and the database's connections have used so far, in milliseconds. */
export async function cpuClock(db: Db): Promise<{ before(): number; after(): number }> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database()`.execute(db);
  const ofDatabase = () => rows.reduce((sum, { pid }) => sum + runMs(pid), 0);
  const ofProcess = () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  // Reading what the connections used must not count.
  return {
    before: () => ofDatabase() + ofProcess(),
    after: () => ofProcess() + ofDatabase(),
  };
}

/** The first number is nanoseconds on a CPU. 0: the pool has ended that connection, and the median leaves such a sample out. */
function runMs(pid: number): number {
  const file = `/proc/${pid}/schedstat`;
  return existsSync(file) ? Number(readFileSync(file, "utf8").split(" ")[0]) / 1e6 : 0;
}
