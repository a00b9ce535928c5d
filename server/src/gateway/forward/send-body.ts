import type { IncomingMessage } from "node:http";
import { endBody, type PendingRequest, writeBody } from "../http-client/pending-request.ts";

/** A body that stops arriving for this long ends the request; a response may be silent for ever. */
const silentBodyMs = 120_000;

/** Sends the body as it comes. The caller resumes the request when the connection drains. */
export function sendBody(
  request: IncomingMessage,
  pending: PendingRequest,
  isChunked: boolean,
  onBytes: (bytes: number) => void,
): void {
  request.socket.setTimeout(silentBodyMs);
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
