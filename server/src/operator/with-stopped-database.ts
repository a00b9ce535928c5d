import { join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { type Db, openDatabase } from "../database/database.ts";
import { holdsDatabase, startEmbedded } from "../database/embedded/embedded.ts";
import { EmbeddedDatabaseError } from "../database/embedded-database-error.ts";
import { commandLogger } from "../logging/create-logger.ts";
import { withDatabase } from "./with-database.ts";

/**
 * The database of the running server; where it does not run, the embedded one is started for this command alone. Throws
 * EmbeddedDatabaseError where there is none yet.
 */
export async function withStoppedDatabase<T>(config: Config, work: (db: Db) => Promise<T>): Promise<T> {
  const directory = join(resolve(config.dataDir), "database");
  try {
    return await withDatabase(config, work);
  } catch (error) {
    if (!(error instanceof EmbeddedDatabaseError) || !holdsDatabase(directory)) throw error;
  }
  const embedded = await startEmbedded({ directory, log: commandLogger });
  try {
    const { db, close } = await openDatabase(embedded.connection, commandLogger, { keep: true });
    return await work(db).finally(close);
  } finally {
    await embedded.stop();
  }
}
