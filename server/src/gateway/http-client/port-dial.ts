import type { Socket } from "node:net";
import type { Endpoint } from "../../drivers/driver.ts";
import { type Dial, openSocket } from "./open-socket.ts";
import { type Fault, UpstreamError } from "./upstream-error.ts";

const maxHeadBytes = 16 * 1024;
const headEnd = Buffer.from("\r\n\r\n");
const faults: Readonly<Record<string, Fault>> = { "404": "too_old", "501": "not_installed", "502": "not_listening" };

/**
 * A socket to what listens on a port inside: JupyterLab joins the connection to it and answers 101 (images/ports.py, G386).
 * Nothing else is sent before that answer, and after it JupyterLab reads no byte as a request, so no path leads to it.
 */
export function portDial(endpoint: Endpoint, runToken: string, port: number): Dial {
  return joinedDial(endpoint, `GET /berth/ports/${port} HTTP/1.1\r\n${fieldsOf(runToken)}Upgrade: tcp\r\n\r\n`);
}

/** The same to an SSH server that is started for it and takes these keys, lines of authorized_keys (images/ssh.py, G404). */
export function sshDial(endpoint: Endpoint, runToken: string, keys: readonly string[]): Dial {
  const field = `Authorized-Keys: ${Buffer.from(`${keys.join("\n")}\n`).toString("base64")}\r\n`;
  return joinedDial(endpoint, `GET /berth/ssh HTTP/1.1\r\n${fieldsOf(runToken)}${field}Upgrade: ssh\r\n\r\n`);
}

function fieldsOf(runToken: string): string {
  return `Host: localhost\r\nAuthorization: token ${runToken}\r\nConnection: Upgrade\r\n`;
}

function joinedDial(endpoint: Endpoint, head: string): Dial {
  return (readBytes, onOpen, onBytes) => openJoined(endpoint, head, readBytes, onOpen, onBytes);
}

function openJoined(endpoint: Endpoint, head: string, ...[readBytes, onOpen, onBytes]: Parameters<Dial>): Socket {
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
  return new UpstreamError(`JupyterLab answered ${status} instead of joining`, { fault: faults[status] });
}
