import { join } from "node:path";
import { Client } from "pg";
import type { Connection } from "../server/src/database/database.ts";
import { startEmbedded } from "../server/src/database/embedded.ts";
import { removeFolder, temporaryFolder } from "./product.ts";

/** A database server of its own, ended with the stack; nothing of it has to outlive the machine. */
export async function startCluster(stack: AsyncDisposableStack): Promise<Connection> {
  const folder = temporaryFolder();
  stack.defer(() => removeFolder(folder));
  const start = () => startEmbedded({ directory: join(folder, "database"), fsync: false, failed: () => {} });
  const first = await start();
  // Every end of a process cuts its connections. To prove the password anew 4096 times over would be most of the work,
  // and on a busy machine those that were cut are still counted while their successors come.
  const admin = new Client(first.connection);
  await admin.connect();
  await admin.query("set scram_iterations = 1");
  await admin.query(`alter role berth password '${first.connection.password}'`);
  await admin.query("alter system set max_connections = 400");
  await admin.end();
  await first.stop();
  const embedded = await start();
  stack.defer(() => embedded.stop());
  return embedded.connection;
}
