import { createSocket } from "node:dgram";
import { createServer } from "node:net";

/**
 * The outside of a test: runs in a network namespace of its own and listens at every address there. Arguments: the
 * address of its name server, which resolves every name to 203.0.113.7, and the ports. Prints "listening" when ready.
 */
const [nameserver = "", ...ports] = process.argv.slice(2);
const listening = ports.map(async (port) => {
  const server = createServer((socket) => socket.on("error", () => {}).end());
  // Two floods of 900 fit, even when this process is slow.
  server.listen({ port: Number(port), host: "::", backlog: 4096 });
  await new Promise((resolve) => server.once("listening", resolve));
});
const names = createSocket("udp4", (query, from) => {
  // The question with one answer: 203.0.113.7, valid for a minute.
  const header = Buffer.from([...query.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
  const end = query.indexOf(0, 12) + 5;
  const answer = Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 203, 0, 113, 7]);
  names.send(Buffer.concat([header, query.subarray(12, end), answer]), from.port, from.address);
});
listening.push(new Promise((resolve) => names.bind(53, nameserver, resolve)));
await Promise.all(listening);
console.log("listening");
