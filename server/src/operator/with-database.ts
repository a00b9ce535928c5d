import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import type { Author } from "../audit/record-act.ts";
import { type Config, ConfigError } from "../config/config.ts";
import { type Db, isLostConnection, openDatabase } from "../database/database.ts";
import { EmbeddedDatabaseError, embeddedConnection } from "../database/embedded.ts";
import { commandLogger } from "../logging/create-logger.ts";
import { announcer } from "../notifications/announcer.ts";
import type { Options } from "./parse-command.ts";

/** Opens the running server's database, without migrating it. */
export async function withDatabase<T>(
  { database: settings, dataDir }: Config,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const connection =
    settings.kind === "external"
      ? { connectionString: settings.url }
      : embeddedConnection(join(resolve(dataDir), "database"));
  const database = await openDatabase(connection, commandLogger, { keep: true }).catch((error) => {
    if (!isLostConnection(error)) throw error;
    throw settings.kind === "external"
      ? new ConfigError(`The database of DATABASE_URL cannot be reached: ${error.message}`)
      : new EmbeddedDatabaseError(
          `The server of ${resolve(dataDir)} is not running: start it (npm start), then retry.`,
        );
  });
  try {
    return await work(database.db);
  } finally {
    await database.close();
  }
}

/** Notifies by bell and mail, as the server does; links use the address of the settings. */
export function announcerOf({ appUrl, port, brand }: Config) {
  return announcer({ appUrl: appUrl ?? `http://localhost:${port}`, brandName: brand.name });
}

/** Who gives the command on this machine, and the reason of `--reason` (G118). */
export function authorOf({ reason = "" }: Options): Author {
  return { actor: `cli:${userName()}`, reason };
}

/** A container may run as a user without a name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid-${process.getuid?.()}`;
  }
}
