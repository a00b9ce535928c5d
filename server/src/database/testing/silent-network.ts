import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export interface SilentNetwork {
  /** A folder of sockets in front of the cluster's. */
  readonly folder: string;
  /** From now on nothing passes on the connections that are open, and none of them ends. */
  forget(): void;
  /** Connections that were opened so far. */
  opened(): number;
}

/** A way to the cluster like a firewall that forgets connections. */
export async function silentNetwork(cluster: string): Promise<SilentNetwork> {
  const folder = mkdtempSync(join(tmpdir(), "berth-network-"));
  const name = readdirSync(cluster).find((file) => /^\.s\.PGSQL\.\d+$/.test(file)) ?? "";
  const pairs: (readonly [Socket, Socket])[] = [];
  const server = createServer((client) => {
    const database = connect(join(cluster, name));
    pairs.push([client, database]);
    client.pipe(database).pipe(client);
    for (const socket of [client, database]) socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(join(folder, name), resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of pairs.flat()) socket.destroy();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    folder,
    opened: () => pairs.length,
    forget() {
      for (const [client, database] of pairs) {
        client.unpipe();
        database.unpipe();
        // Read and dropped, as by a network.
        for (const socket of [client, database]) socket.resume();
      }
    },
  };
}
