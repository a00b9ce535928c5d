import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { TrustProxy } from "./client-address.ts";
import { addressKey } from "./limit-requests.ts";

/** Above the gateway's limit per address, which refuses with a reason. */
const mostPerAddress = 2500;

/** Limits connections per address: excess ones are closed before a byte is read. Trusted proxies are exempt. */
export function limitConnections(server: Server, trusted: TrustProxy, most = mostPerAddress): void {
  const open = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    if (trusted(address, 0)) return;
    const key = addressKey(address);
    const count = open.get(key) ?? 0;
    if (count >= most) return void socket.destroy();
    open.set(key, count + 1);
    socket.once("close", () => {
      const left = (open.get(key) ?? 0) - 1;
      if (left > 0) open.set(key, left);
      else open.delete(key);
    });
  });
}
