import { join } from "node:path";
import { Client } from "pg";
import type { Connection } from "../../server/src/database/connection.ts";
import { startEmbedded } from "../../server/src/database/embedded/embedded.ts";
import { silentLogger } from "../../server/src/logging/create-logger.ts";
import { removeFolder, temporaryFolder } from "../../testing/product.ts";

/** A database server without fsync, stopped with the stack. */
export async function startCluster(stack: AsyncDisposableStack): Promise<Connection> {
  const folder = temporaryFolder();
  stack.defer(() => removeFolder(folder));
  const directory = join(folder, "database");
  // PostgreSQL still counts cut connections for a moment while new ones open.
  const embedded = await startEmbedded({
    directory,
    fsync: false,
    connections: 400,
    superuser: true,
    log: silentLogger,
  });
  stack.defer(() => embedded.stop());
  // Each process end cuts its connections; scram's 4096 iterations per connection would take most of the time.
  const admin = new Client(embedded.connection);
  await admin.connect();
  await admin.query("set scram_iterations = 1");
  await admin.query(`alter role berth password '${embedded.connection.password}'`);
  await admin.end();
  return embedded.connection;
}
