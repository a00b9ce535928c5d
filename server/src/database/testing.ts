import { randomBytes } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { Client } from "pg";
import { inject } from "vitest";
import type { Logger } from "../logging/create-logger.ts";
import { strictLog } from "../logging/testing/record-log.ts";
import { type Database, openDatabase } from "./database.ts";
import { template } from "./testing-setup.ts";

interface Options {
  /** Puts a proxy between product and cluster: maps the cluster's socket folder to another one. */
  readonly through?: (sockets: string) => Promise<string>;
  readonly log?: Logger;
}

export interface TestDatabase extends Database, AsyncDisposable {
  /** Connections of one more process to the same database. */
  beside(): Promise<TestDatabase>;
}

/**
 * A fresh, migrated database of this run's cluster, dropped when its last user has closed it. Close it in `onTestFinished` or
 * with `await using`.
 */
export async function testDatabase({ through, log = strictLog() }: Options = {}): Promise<TestDatabase> {
  const cluster = inject("cluster");
  const name = `t_${randomBytes(8).toString("hex")}`;
  await asAdmin(`create database ${name} template ${template} strategy file_copy`);
  const host = (await through?.(cluster.host ?? "")) ?? cluster.host ?? "";
  const users = new Set<Database>();
  const beside = async (): Promise<TestDatabase> => {
    const database = await openDatabase({ ...cluster, host, database: name }, log);
    users.add(database);
    const close = async () => {
      await database.close();
      if (users.delete(database) && users.size === 0) await asAdmin(`drop database ${name} with (force)`);
    };
    return { ...database, close, beside, [Symbol.asyncDispose]: close };
  };
  return await beside();
}

async function asAdmin(statement: string): Promise<void> {
  const admin = new Client(inject("cluster"));
  await admin.connect();
  await admin.query(statement);
  await admin.end();
}

const folder = new URL("migrations/", import.meta.url);

/** A database at the version before a migration (by its name's prefix), with a connection to fill it. */
export async function databaseBefore(migration: string) {
  const cluster = inject("cluster");
  const name = `t_${randomBytes(8).toString("hex")}`;
  await asAdmin(`create database ${name}`);
  const client = new Client({ ...cluster, database: name });
  await client.connect();
  await client.query("create table migrations (name text primary key, applied_at timestamptz not null default now())");
  for (const file of (await readdir(folder)).filter((each) => each.endsWith(".sql") && each < migration).sort()) {
    await client.query(await readFile(new URL(file, folder), "utf8"));
    await client.query("insert into migrations (name) values ($1)", [file]);
  }
  return { client, connection: { ...cluster, database: name } };
}
