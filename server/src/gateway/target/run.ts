import type { Endpoint } from "../../drivers/driver.ts";
import { type ConnectionPool, createConnectionPool } from "../http-client/connection-pool.ts";
import { type Dial, labDial } from "../http-client/open-socket.ts";
import { portDial } from "../http-client/port-dial.ts";

/** One run of an environment: same endpoint, same token. */
export interface Run {
  readonly endpoint: Endpoint;
  readonly token: string;
  /** Connections to JupyterLab. */
  readonly pool: ConnectionPool;
  /** Connections to ports inside that are in use, each in a pool of its own (G385). */
  readonly ports: Map<number, ConnectionPool>;
  /** Time of the first missing response, by the database's clock; undefined after a response. */
  silentSinceMs: number | undefined;
}

export function createRun(endpoint: Endpoint, token: string): Run {
  return {
    endpoint,
    token,
    pool: createConnectionPool(labDial(endpoint)),
    ports: new Map(),
    silentSinceMs: undefined,
  };
}

/** How to reach JupyterLab or, with a port, what listens there. */
export function dialOf({ endpoint, token }: Run, port: number | undefined): Dial {
  return port === undefined ? labDial(endpoint) : portDial(endpoint, token, port);
}

export function portPool(run: Run, port: number): ConnectionPool {
  const known = run.ports.get(port);
  if (known) return known;
  const pool = createConnectionPool(dialOf(run, port));
  run.ports.set(port, pool);
  return pool;
}

/** Closes connections after their idle timeout, and forgets ports that have none. */
export function sweepRun({ pool, ports }: Run): void {
  pool.sweep();
  for (const [port, each] of ports) {
    each.sweep();
    if (each.isEmpty()) ports.delete(port);
  }
}

/** Closes every connection. */
export function closeRun({ pool, ports }: Run): void {
  pool.close();
  for (const each of ports.values()) each.close();
}
