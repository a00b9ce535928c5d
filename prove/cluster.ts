import { join } from "node:path";
import { Client } from "pg";
import type { Connection } from "../server/src/database/connection.ts";
import { startEmbedded } from "../server/src/database/embedded.ts";
import { silentLogger } from "../server/src/logging/create-logger.ts";
import { removeFolder, temporaryFolder } from "../testing/product.ts";

/** A database server of its own, ended with the stack; nothing of it has to outlive the machine. */
export async function startCluster(stack: AsyncDisposableStack): Promise<Connection> {
  const folder = temporaryFolder();
  stack.defer(() => removeFolder(folder));
  const directory = join(folder, "database");
  // On a busy machine connections that were cut are still counted while their successors come.
  const embedded = await startEmbedded({ directory, fsync: false, connections: 400, log: silentLogger });
  stack.defer(() => embedded.stop());
  // Every end of a process cuts its connections. To prove the password anew 4096 times over would be most of the work.
  const admin = new Client(embedded.connection);
  await admin.connect();
  await admin.query("set scram_iterations = 1");
  await admin.query(`alter role berth password '${embedded.connection.password}'`);
  await admin.end();
  return embedded.connection;
}
