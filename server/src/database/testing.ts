import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { inject } from "vitest";
import { type Database, openDatabase } from "./database.ts";
import { template } from "./testing-setup.ts";

interface Options {
  /** Between the product and the cluster: the folder of another socket, made of the cluster's own. */
  readonly through?: (sockets: string) => Promise<string>;
  readonly failed?: (error: unknown) => void;
}

/** A fresh, migrated database of this run's cluster. Close it in `onTestFinished` or with `await using`. */
export async function testDatabase({ through, failed = raise }: Options = {}): Promise<Database & AsyncDisposable> {
  const cluster = inject("cluster");
  const name = `t_${randomBytes(8).toString("hex")}`;
  const admin = new Client(cluster);
  await admin.connect();
  await admin.query(`create database ${name} template ${template}`);
  await admin.end();
  const host = (await through?.(cluster.host ?? "")) ?? cluster.host ?? "";
  const database = await openDatabase({ ...cluster, host, database: name }, failed);
  return { ...database, [Symbol.asyncDispose]: database.close };
}

function raise(error: unknown): never {
  throw error;
}
