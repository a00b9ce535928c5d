// The least that a process in between can do: passes bytes on, unread, one connection for each. Argument: port of the
// upstream. Prints its port.
import { type AddressInfo, connect, createServer } from "node:net";

const port = Number(process.argv[2]);
const server = createServer({ noDelay: true }, (client) => {
  const buffer = Buffer.allocUnsafeSlow(16 * 1024);
  const callback = (length: number) => {
    // The next read overwrites it, and a write may still be under way.
    client.write(Buffer.from(buffer.subarray(0, length)));
    return true;
  };
  const upstream = connect({ host: "127.0.0.1", port, noDelay: true, onread: { buffer, callback } });
  client.on("data", (chunk) => upstream.write(chunk));
  for (const [one, other] of [
    [client, upstream],
    [upstream, client],
  ] as const)
    one.on("error", () => {}).on("close", () => other.destroy());
});
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
