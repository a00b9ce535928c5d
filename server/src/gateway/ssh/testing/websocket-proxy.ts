// A ProxyCommand, as websocat is one: `websocket-proxy.ts URL HOST TOKEN` joins its input and output to a WebSocket.
import { createWebSocketStream, WebSocket } from "ws";

const [url = "", host = "", token = ""] = process.argv.slice(2);
const socket = new WebSocket(url, { headers: { host, authorization: `Bearer ${token}` }, perMessageDeflate: false });
socket.on("unexpected-response", async (_request, response) => {
  for await (const bytes of response) process.stderr.write(bytes);
  process.exit(1);
});
const stream = createWebSocketStream(socket);
stream.on("error", () => process.exit(1)).on("end", () => process.exit(0));
process.stdin.pipe(stream).pipe(process.stdout);
