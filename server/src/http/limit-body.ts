import type { IncomingMessage, ServerResponse } from "node:http";

/** For whatever is not passed on to an environment: our own bodies are small. */
const bodyMs = 30_000;

const message = "The request did not arrive within 30 seconds, so nothing of it was done. Send it again.";
const body = JSON.stringify({ status: "error", code: "invalid_request", message, detail: message });
const tooSlow = `HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${body}`;

/**
 * Ends the connection of a request whose body is not here 30 s from now, whether it is silent or slow
 * (docs/internals/reliability.md): with 408, unless an answer has begun. Node has such a limit for a whole server only,
 * and uploads to environments have none.
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
