import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder of sockets in front of the cluster's, until a client sends what `isLast` picks: from then on there is no database. */
export async function severedNetwork(cluster: string, isLast: (sent: Buffer) => boolean): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "berth-severed-"));
  const name = readdirSync(cluster).find((file) => /^\.s\.PGSQL\.\d+$/.test(file)) ?? "";
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const database = connect(join(cluster, name));
    for (const socket of [client, database]) {
      open.add(socket);
      socket.on("error", () => {});
    }
    client.on("data", (sent) => (isLast(sent) ? sever() : database.write(sent)));
    client.on("close", () => database.destroy());
    database.pipe(client);
  });
  const sever = () => {
    server.close();
    for (const socket of open) socket.destroy();
  };
  await new Promise<void>((resolve) => server.listen(join(folder, name), resolve));
  onTestFinished(() => {
    sever();
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
