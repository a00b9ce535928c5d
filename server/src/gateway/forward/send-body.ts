import type { IncomingMessage } from "node:http";
import { endBody, type PendingRequest, writeBody } from "../http-client/pending-request.ts";

/** Idle timeout of a request body. A response has none. */
const idleBodyTimeoutMs = 120_000;

/** Streams the body. The caller resumes the request when the connection drains. */
export function sendBody(
  request: IncomingMessage,
  pending: PendingRequest,
  isChunked: boolean,
  onBytes: (bytes: number) => void,
): void {
  request.socket.setTimeout(idleBodyTimeoutMs);
  request.on("data", (chunk: Buffer) => {
    onBytes(chunk.length);
    if (isChunked) writeBody(pending, `${chunk.length.toString(16)}\r\n`);
    const isTaken = writeBody(pending, chunk);
    if (!(isChunked ? writeBody(pending, "\r\n") : isTaken)) request.pause();
  });
  request.on("end", () => {
    request.socket.setTimeout(0);
    if (isChunked) writeBody(pending, "0\r\n\r\n");
    endBody(pending);
  });
}
