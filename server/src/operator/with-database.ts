import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { type AuditWitness, auditWitness } from "../audit/audit-witness.ts";
import type { Author } from "../audit/record-act.ts";
import { type Config, ConfigError } from "../config/config.ts";
import type { Connection } from "../database/connection.ts";
import { isLostConnection } from "../database/connection.ts";
import { type Db, openDatabase } from "../database/database.ts";
import { embeddedConnection } from "../database/embedded/embedded.ts";
import { commandLogger } from "../logging/create-logger.ts";
import { announcer } from "../notifications/announcer.ts";
import type { Options } from "./parse-command.ts";

/** The database of the running server. Throws EmbeddedDatabaseError where its own one does not run. */
export function connectionOf({ database, dataDir }: Config): Connection {
  return database.kind === "external"
    ? { connectionString: database.url, listenString: database.listenUrl }
    : embeddedConnection(join(resolve(dataDir), "database"));
}

/** Unlike other faults of the settings it may pass by itself. */
export class DatabaseUnreachable extends ConfigError {}

/** Opens the running server's database, without migrating it unless `keep` is false. */
export async function withDatabase<T>(config: Config, work: (db: Db) => Promise<T>, { keep = true } = {}): Promise<T> {
  const database = await openDatabase(connectionOf(config), commandLogger, { keep }).catch((error) => {
    throw isLostConnection(error) ? unreachable(config, error.message) : error;
  });
  try {
    return await work(database.db);
  } finally {
    await database.close();
  }
}

/** An embedded database ran a moment ago: otherwise `connectionOf` throws. */
export function unreachable({ database, dataDir }: Pick<Config, "database" | "dataDir">, reason: string) {
  const what =
    database.kind === "external"
      ? "The database of DATABASE_URL cannot be reached"
      : `The database of ${resolve(dataDir)} runs, and does not answer. Look at the server's log and at the disk`;
  return new DatabaseUnreachable(`${what}: ${reason}`);
}

/**
 * Undefined where this program has not the installation's secret. The file beside the data is the worker's to write: one of
 * root's, who types a command, could not be read by a server that is another user.
 */
export function witnessOf({ dataDir, secret }: Pick<Config, "dataDir" | "secret">): AuditWitness | undefined {
  const folder = resolve(dataDir);
  const file = join(folder, "secret");
  if (secret === undefined && !existsSync(file)) return undefined;
  return { ...auditWitness(folder, secret ?? readFileSync(file)), see() {} };
}

/** Notifies by bell and mail, as the server does; links use the address of the settings. */
export function announcerOf(config: Config) {
  return announcer({ appUrl: appUrlOf(config), brandName: config.brand.name });
}

export const appUrlOf = ({ appUrl, port }: Config): string => appUrl ?? `http://localhost:${port}`;

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
