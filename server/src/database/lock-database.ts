import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "pg";
import type { Logger } from "../logging/create-logger.ts";
import { type Connection, clientOf } from "./connection.ts";
import { EmbeddedDatabaseError, inUse } from "./embedded-database-error.ts";

interface Lock {
  readonly connection: Connection;
  readonly directory: string;
  readonly hasEnded: () => boolean;
  readonly slowAfterMs: number;
  readonly log: Logger;
}

/**
 * Waits until the database accepts a connection, which takes the lock. After a power failure it replays up to a gigabyte
 * first; a start that gave up meanwhile would begin that again. Child processes of a killed server can block it for a moment.
 */
export async function lockDatabase({ connection, directory, hasEnded, slowAfterMs, log }: Lock): Promise<Client> {
  const from = performance.now();
  for (let isLogged = false; ; await sleep(25)) {
    const { client, error } = await connectAndLock(connection, directory);
    if (client) return client;
    if (performance.now() - from < slowAfterMs) continue;
    if (hasEnded() || !isStarting(error))
      throw new EmbeddedDatabaseError(`The embedded database in ${directory} does not start: ${String(error)}`);
    if (!isLogged)
      log.info({ event: "database.embedded_starting" }, "the embedded database still starts; waiting for it");
    isLogged = true;
  }
}

type Tried = { readonly client: Client; readonly error?: never } | { readonly client?: never; readonly error: unknown };

/** @throws EmbeddedDatabaseError if another server has the lock */
async function connectAndLock(connection: Connection, directory: string): Promise<Tried> {
  const client = new (clientOf(connection))(connection);
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query("select pg_try_advisory_lock(8301548) as free");
    if (rows[0].free) return { client };
    throw inUse(directory);
  } catch (error) {
    await client.end().catch(() => {});
    if (error instanceof EmbeddedDatabaseError) throw error;
    return { error };
  }
}

/** No socket yet, or one that says that the database is starting up or recovering. */
function isStarting(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ECONNREFUSED" || code === "57P03";
}
