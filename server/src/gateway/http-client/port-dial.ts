import type { Socket } from "node:net";
import type { Endpoint } from "../../drivers/driver.ts";
import { type Dial, openSocket } from "./open-socket.ts";
import { type PortFault, UpstreamError } from "./upstream-error.ts";

const maxHeadBytes = 16 * 1024;
const headEnd = Buffer.from("\r\n\r\n");
const faults: Readonly<Record<string, PortFault>> = { "404": "no_ports", "502": "not_listening" };

/**
 * A socket to what listens on a port inside: JupyterLab joins the connection to it and answers 101 (images/ports.py, G386).
 * Nothing else is sent before that answer, and after it JupyterLab reads no byte as a request, so no path leads to it.
 */
export function portDial(endpoint: Endpoint, runToken: string, port: number): Dial {
  const head = `GET /berth/ports/${port} HTTP/1.1\r\nHost: localhost\r\nAuthorization: token ${runToken}\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n`;
  return (readBytes, onOpen, onBytes) => openPortSocket(endpoint, head, readBytes, onOpen, onBytes);
}

function openPortSocket(endpoint: Endpoint, head: string, ...[readBytes, onOpen, onBytes]: Parameters<Dial>): Socket {
  let answer: Buffer | undefined = Buffer.alloc(0);
  const socket = openSocket(
    endpoint,
    readBytes,
    () => {},
    (bytes) => {
      if (!answer) return onBytes(bytes);
      answer = Buffer.concat([answer, bytes]);
      const end = answer.indexOf(headEnd);
      if (end !== -1 ? !isJoined(answer) : answer.length > maxHeadBytes) socket.destroy(refusalOf(answer));
      if (end === -1 || socket.destroyed) return false;
      const rest = answer.subarray(end + headEnd.length);
      answer = undefined;
      socket.uncork();
      onOpen();
      return rest.length > 0 && onBytes(rest);
    },
  );
  socket.write(head, "latin1");
  // What is written from here on waits for the answer.
  socket.cork();
  return socket;
}

function isJoined(answer: Buffer): boolean {
  return answer.toString("latin1", 0, 13) === "HTTP/1.1 101 ";
}

function refusalOf(answer: Buffer): UpstreamError {
  const status = answer.toString("latin1", 9, 12);
  return new UpstreamError(`JupyterLab answered ${status} for a port`, { fault: faults[status] });
}
