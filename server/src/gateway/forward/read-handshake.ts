import { parseResponseHead } from "../http-client/response-head.ts";
import { passableFields } from "./passable-fields.ts";

const maxHeadBytes = 64 * 1024;

/** The environment's response to an upgrade, as received so far. */
export interface Handshake {
  bytes: Buffer;
}

/** On 101: the `head` for the browser, and the bytes after the environment's head. */
type HandshakeResponse =
  | { readonly status: 101; readonly head: string; readonly rest: Buffer }
  | { readonly status: number };

/** Undefined while the response is incomplete; status 502 when it is malformed or too long. */
export function readHandshake(handshake: Handshake, chunk: Buffer): HandshakeResponse | undefined {
  const bytes = handshake.bytes.length === 0 ? chunk : Buffer.concat([handshake.bytes, chunk]);
  handshake.bytes = bytes;
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return bytes.length <= maxHeadBytes ? undefined : { status: 502 };
  try {
    const { status, headers } = parseResponseHead(bytes.toString("latin1", 0, end), true);
    if (status !== 101) return { status };
    return { status, head: switchedHead(passableFields(headers)), rest: bytes.subarray(end + 4) };
  } catch {
    return { status: 502 };
  }
}

function switchedHead(fields: readonly string[]): string {
  let text = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`;
  return `${text}\r\n`;
}
