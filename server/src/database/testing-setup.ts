import { rmSync } from "node:fs";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { silentLogger } from "../logging/create-logger.ts";
import type { Connection } from "./connection.ts";
import { openDatabase } from "./database.ts";
import { startEmbedded } from "./embedded/embedded.ts";
import { memoryFolder } from "./testing/memory-folder.ts";

export const template = "berth_template";

declare module "vitest" {
  interface ProvidedContext {
    cluster: Connection;
  }
}

/** Starts one real cluster per test run, with a migrated template that every test file copies. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = memoryFolder("berth-test-");
  const embedded = await startEmbedded({ directory, fsync: false, superuser: true, log: silentLogger });
  const admin = new Client(embedded.connection);
  await admin.connect();
  await admin.query(`create database ${template}`);
  // The iterations are against guesses; a test opens several connections.
  await admin.query(`set scram_iterations = 1; alter role berth password '${embedded.connection.password}'`);
  await admin.end();
  const migrated = await openDatabase({ ...embedded.connection, database: template }, silentLogger);
  await migrated.close();
  project.provide("cluster", embedded.connection);
  return async () => {
    await embedded.stop();
    rmSync(directory, { recursive: true, force: true });
  };
}
