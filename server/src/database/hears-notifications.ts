import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { withTimeout } from "../async/with-timeout.ts";
import { ConfigError } from "../config/config.ts";
import { type Connection, clientOf, listeningConnection } from "./connection.ts";
import type { Db } from "./database.ts";

const arrivalTimeoutMs = 5000;

/** For a start: throws ConfigError, in words for the operator, unless notifications arrive (G176). */
export async function requireNotifications(db: Db, connection: Connection): Promise<void> {
  const isApart = connection.listenString !== undefined;
  const heard = await hearsNotifications(db, connection).catch((error) => {
    const setting = isApart ? "DATABASE_LISTEN_URL" : "DATABASE_URL";
    throw new ConfigError(`The database of ${setting} cannot be reached: ${error.message}`);
  });
  if (heard) return;
  throw new ConfigError(
    isApart
      ? "No notification of DATABASE_URL arrives at DATABASE_LISTEN_URL: name the same database there, without a pooler in between."
      : "No notification of DATABASE_URL arrives: it leads through a pooler in transaction mode. Name the database's own address in DATABASE_LISTEN_URL.",
  );
}

/**
 * Whether a notification that the pool sends arrives at the connection that listens. It does not behind a pooler that lends
 * connections for one transaction each (G176), nor when the two are not the same database. Throws if it cannot connect.
 */
export async function hearsNotifications(
  db: Db,
  connection: Connection,
  timeoutMs = arrivalTimeoutMs,
): Promise<boolean> {
  const settings = listeningConnection(connection);
  const client = new (clientOf(settings))(settings);
  // The query that fails reports it; without a listener Node would exit.
  client.on("error", () => {});
  const channel = `echo_${randomBytes(8).toString("hex")}`;
  const heard = new Promise<true>((resolve) => {
    client.on("notification", (message) => message.channel === channel && resolve(true));
  });
  try {
    await client.connect();
    await client.query(`listen ${channel}`);
    await sql`select pg_notify(${channel}, '')`.execute(db);
    return await withTimeout<boolean>(heard, timeoutMs, () => false);
  } finally {
    await client.end().catch(() => {});
  }
}
