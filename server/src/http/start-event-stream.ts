import type { ServerResponse } from "node:http";

const heartbeatMs = 20_000;

/** Starts a response of server-sent events with a heartbeat against idle timeouts of proxies. Returns its stop function. */
export function startEventStream(response: ServerResponse): () => void {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.write(": connected\n\n");
  const heartbeat = setInterval(() => response.write(": still here\n\n"), heartbeatMs);
  return () => clearInterval(heartbeat);
}
