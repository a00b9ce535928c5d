import { sql } from "kysely";
import type { Db } from "../../database/database.ts";
import { type Driver, DriverError } from "../../drivers/driver.ts";

/**
 * The host `local` for a process that is no worker. Where the workers have another machine, logs and files are
 * `unavailable` here; without this they would be empty.
 */
export function onlyWhereRunsAre(db: Db, driver: Driver): Driver {
  async function requireRuns(): Promise<void> {
    const { rows } = await sql<{ machine: string }>`
      select machine from workers order by seen_at desc limit 1`.execute(db);
    const [worker] = rows;
    if (worker && worker.machine !== (await driver.machineId()))
      throw new DriverError("unavailable", "the environments run on another machine than this process");
  }
  return {
    ...driver,
    async *archive(...args) {
      await requireRuns();
      yield* driver.archive(...args);
    },
    async *logs(...args) {
      await requireRuns();
      yield* driver.logs(...args);
    },
  };
}
