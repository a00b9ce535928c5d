import { rmSync } from "node:fs";
import { startEmbedded } from "../../database/embedded/embedded.ts";
import { memoryFolder } from "../../database/testing/memory-folder.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import type { Defer } from "./defer.ts";

/** A PostgreSQL of its own that can be stopped, and started again at the same address. */
export async function stoppableCluster(defer: Defer) {
  const directory = memoryFolder("berth-faults-");
  defer(() => rmSync(directory, { recursive: true, force: true, maxRetries: 5 }));
  const open = () => startEmbedded({ directory, fsync: false, log: silentLogger });
  let cluster = await open();
  defer(() => cluster.stop());
  const { user, password, host = "", database } = cluster.connection;
  return {
    connection: cluster.connection,
    url: `postgres://${user}:${password}@localhost/${database}?host=${encodeURIComponent(host)}`,
    stop: () => cluster.stop(),
    async restart() {
      cluster = await open();
    },
  };
}
