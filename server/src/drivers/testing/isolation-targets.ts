import { createSocket } from "node:dgram";
import { createServer } from "node:net";

/**
 * The world outside of a test: run in a network namespace of its own, listens at every address there. Arguments: where
 * it answers names, all with 203.0.113.7, and the other ports. Says "listening" when it does.
 */
const [nameserver = "", ...ports] = process.argv.slice(2);
const listening = ports.map(async (port) => {
  const server = createServer((socket) => socket.on("error", () => {}).end());
  // Two floods of 900 fit, however late this process comes to it.
  server.listen({ port: Number(port), host: "::", backlog: 4096 });
  await new Promise((resolve) => server.once("listening", resolve));
});
const names = createSocket("udp4", (query, from) => {
  // The question as it came, said to be answered by one address: 203.0.113.7, good for a minute.
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
  const end = query.indexOf(0, 12) + 5;
  const answer = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 7]);
  names.send(Buffer.concat([header, query.subarray(12, end), answer]), from.port, from.address);
});
listening.push(new Promise((resolve) => names.bind(53, nameserver, resolve)));
await Promise.all(listening);
console.log("listening");
