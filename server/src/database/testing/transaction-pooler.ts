import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/**
 * A folder of sockets in front of the cluster's, like a pooler in transaction mode: a notification never reaches the client
 * that listens.
 */
export async function transactionPooler(cluster: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "berth-pooler-"));
  const name = readdirSync(cluster).find((file) => /^\.s\.PGSQL\.\d+$/.test(file)) ?? "";
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(join(cluster, name));
    const pass = withoutNotifications((bytes) => client.write(bytes));
    client.pipe(database);
    database.on("data", pass);
    for (const [socket, other] of [
      [client, database],
      [database, client],
    ] as const) {
      open.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(join(folder, name), resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of open) socket.destroy();
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

const notification = "A".charCodeAt(0);

/** Passes the messages of a PostgreSQL server: a type, a length with itself, and that many bytes. */
function withoutNotifications(write: (bytes: Buffer) => void): (chunk: Buffer) => void {
  let held = Buffer.alloc(0);
  return (chunk) => {
    held = Buffer.concat([held, chunk]);
    while (held.length >= 5 && held.length >= 1 + held.readInt32BE(1)) {
      const end = 1 + held.readInt32BE(1);
      if (held[0] !== notification) write(held.subarray(0, end));
      held = held.subarray(end);
    }
  };
}
