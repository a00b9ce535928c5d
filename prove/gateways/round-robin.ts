import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface RoundRobin {
  readonly port: number;
  add(port: number): void;
  remove(port: number): void;
  close(): Promise<void>;
}

/** A proxy of TCP connections to each port of loopback in turn. Where one is closed it takes the next; it checks nothing else. */
export async function roundRobin(): Promise<RoundRobin> {
  const ports: number[] = [];
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer({ pauseOnConnect: true }, (client) => {
    client.on("error", () => client.destroy());
    open.add(client);
    client.on("close", () => open.delete(client));
    const first = turn++;
    const tryNext = (left: number) => {
      const port = ports[(first + left) % ports.length];
      if (left === 0 || port === undefined) return void client.destroy();
      const gateway = connect({ port, host: "127.0.0.1" });
      gateway.once("error", () => tryNext(left - 1));
      gateway.once("connect", () => join(client, gateway));
    };
    tryNext(ports.length);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    add: (port) => void ports.push(port),
    remove: (port) => void ports.splice(ports.indexOf(port), 1),
    async close() {
      server.close();
      for (const socket of open) socket.destroy();
      await once(server, "close");
    },
  };
}

function join(client: Socket, gateway: Socket): void {
  gateway.removeAllListeners("error");
  gateway.on("error", () => client.destroy());
  gateway.on("close", () => client.destroy());
  client.on("close", () => gateway.destroy());
  client.pipe(gateway).pipe(client);
}
