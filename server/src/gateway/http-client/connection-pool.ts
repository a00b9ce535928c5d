import { type Connection, type ConnectionOwner, openConnection, startRequest } from "./connection.ts";
import type { Dial } from "./open-socket.ts";
import type { ExchangeHandler, OutgoingRequest, PendingRequest } from "./pending-request.ts";

/** Keep-alive timeout. Jupyter's is an hour, that of small servers five seconds: ours is shorter, so that we close first. */
const idleMs = 4000;
const maxIdle = 256;

/** The keep-alive connections to JupyterLab, or to one port, of one run of one environment; never shared with another. */
export interface ConnectionPool {
  send(request: OutgoingRequest, handler: ExchangeHandler): PendingRequest;
  /** Closes connections after their idle timeout. */
  sweep(): void;
  /** Whether it has no connection. */
  isEmpty(): boolean;
  /** Closes every connection, in use or not. */
  close(): void;
}

export function createConnectionPool(dial: Dial): ConnectionPool {
  const idle: Connection[] = [];
  const all = new Set<Connection>();

  const owner: ConnectionOwner = {
    onIdle(connection) {
      connection.idleSinceMs = performance.now();
      if (idle.push(connection) > maxIdle) idle.shift()?.socket.destroy();
    },
    onClose(connection) {
      all.delete(connection);
      const index = idle.indexOf(connection);
      if (index !== -1) idle.splice(index, 1);
    },
    onStale: (pending) => start(pending, undefined),
  };

  function start(pending: PendingRequest, reused: Connection | undefined): void {
    const connection = reused ?? openConnection(dial, owner);
    all.add(connection);
    pending.isReused = reused !== undefined;
    startRequest(connection, pending);
  }

  return {
    send(request, handler) {
      const pending = { request, handler, connection: undefined, isBodySent: false, isReused: false };
      // A request that is not idempotent gets a new connection, because an idle one may be closed already.
      start(pending, request.isRepeatable ? idle.pop() : undefined);
      return pending;
    },
    sweep() {
      const before = performance.now() - idleMs;
      for (const { idleSinceMs, socket } of [...idle]) if (idleSinceMs < before) socket.destroy();
    },
    isEmpty: () => all.size === 0,
    close() {
      for (const { socket } of [...all]) socket.destroy();
    },
  };
}
