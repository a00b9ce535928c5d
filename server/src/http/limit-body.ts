import type { IncomingMessage, ServerResponse } from "node:http";

/** For requests that are not forwarded to an environment: their bodies are small. */
const bodyMs = 30_000;

const message = "The request did not arrive within 30 seconds, so nothing of it was done. Send it again.";
const body = JSON.stringify({ status: "error", code: "invalid_request", message, detail: message });
const tooSlow = `HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`;

/**
 * Body timeout against slow clients (docs/internals/reliability.md): closes the connection after 30 s, with 408 unless a
 * response has begun. Node's `requestTimeout` is for a whole server, and uploads to environments have no timeout.
 */
export function limitBody(request: IncomingMessage, response: ServerResponse): void {
  const { headers, socket } = request;
  if (headers["content-length"] === undefined && headers["transfer-encoding"] === undefined) return;
  const limit = setTimeout(() => {
    if (response.headersSent || response.socket !== socket) socket.destroy();
    else socket.end(tooSlow, () => socket.destroy());
  }, bodyMs);
  const stop = () => clearTimeout(limit);
  request.once("end", stop).once("close", stop);
}
