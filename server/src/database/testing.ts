import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";
import { type Database, openDatabase } from "./database.ts";
import { template } from "./testing-setup.ts";

/** A fresh, migrated database of this run's cluster. Close it in `onTestFinished` or with `await using`. */
export async function testDatabase(): Promise<Database & AsyncDisposable> {
  const cluster = inject("cluster");
  const name = `t_${randomBytes(8).toString("hex")}`;
  const admin = new Client(cluster);
  await admin.connect();
  await admin.query(`create database ${name} template ${template}`);
  await admin.end();
  const database = await openDatabase({ ...cluster, database: name }, (error) => {
    throw error;
  });
  return { ...database, [Symbol.asyncDispose]: database.close };
}
