import { Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { type Connection, clientOf } from "../../database/connection.ts";
import type { Db } from "../../database/database.ts";
import type { Tables } from "../../database/tables.ts";

/** A database as it is: of any version, not migrated. */
export async function withPlainDatabase<T>(connection: Connection, work: (db: Db) => Promise<T>): Promise<T> {
  const pool = new Pool({ ...connection, Client: clientOf(connection), max: 1, connectionTimeoutMillis: 10_000 });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}
