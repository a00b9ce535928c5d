// The floor for a proxy: relays bytes unread, one upstream connection per client. Argument: upstream port. Prints its port.
import { type AddressInfo, connect, createServer } from "node:net";

const port = Number(process.argv[2]);
const server = createServer({ noDelay: true }, (client) => {
  const buffer = Buffer.allocUnsafeSlow(16 * 1024);
  const callback = (length: number) => {
    // Copied, because the next read overwrites the buffer during the write.
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
