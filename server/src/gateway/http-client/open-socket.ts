import { connect, type Socket } from "node:net";
import type { Endpoint } from "../../drivers/driver.ts";
import { UpstreamError } from "./upstream-error.ts";

const connectTimeoutMs = 2000;

/** Opens a socket to one place, as `openSocket` does; `onOpen` is called when it may be used. */
export type Dial = (readBytes: number, onOpen: () => void, onBytes: (bytes: Buffer) => boolean) => Socket;

/** To JupyterLab itself. */
export function labDial(endpoint: Endpoint): Dial {
  return (readBytes, onOpen, onBytes) => openSocket(endpoint, readBytes, onOpen, onBytes);
}

/**
 * A socket to an environment. `onBytes` gets a view of one reused buffer of `readBytes`, which the next read overwrites
 * unless it returns true (still in use). Allocating a buffer for each read would dominate the cost of a small response.
 */
export function openSocket(
  endpoint: Endpoint,
  readBytes: number,
  onConnect: () => void,
  onBytes: (bytes: Buffer) => boolean,
): Socket {
  let space = Buffer.allocUnsafeSlow(readBytes);
  const onread = {
    buffer: () => space,
    callback(length: number) {
      if (onBytes(space.subarray(0, length))) space = Buffer.allocUnsafeSlow(readBytes);
      return true;
    },
  };
  const socket = connect(
    "socketPath" in endpoint
      ? { path: endpoint.socketPath, onread }
      : { ...endpoint, noDelay: true, keepAlive: true, onread },
  );
  const timeout = setTimeout(() => socket.destroy(new UpstreamError("no connection within 2 s")), connectTimeoutMs);
  socket.once("connect", () => {
    clearTimeout(timeout);
    onConnect();
  });
  socket.once("close", () => clearTimeout(timeout));
  return socket;
}
