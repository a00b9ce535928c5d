import type { Endpoint } from "../../drivers/driver.ts";
import { type ConnectionPool, createConnectionPool } from "../http-client/connection-pool.ts";
import { labDial } from "../http-client/open-socket.ts";
import type { ExchangeHandler } from "../http-client/pending-request.ts";

const timeoutMs = 5000;

/**
 * Readiness probe through the gateway's own HTTP client: `GET /api` and `GET /lab` return 200 with the run's token
 * (docs/internals/gateway.md).
 */
export async function probeReadiness(endpoint: Endpoint, runToken: string): Promise<boolean> {
  const pool = createConnectionPool(labDial(endpoint));
  const timeout = setTimeout(pool.close, timeoutMs);
  try {
    return (await statusOf(pool, "/api", runToken)) === 200 && (await statusOf(pool, "/lab", runToken)) === 200;
  } finally {
    clearTimeout(timeout);
    pool.close();
  }
}

/** Undefined without a response. */
function statusOf(pool: ConnectionPool, path: string, runToken: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  let status: number | undefined;
  const handler: ExchangeHandler = {
    onHead(head) {
      status = head.status;
    },
    onData: () => false,
    onEnd: () => resolve(status),
    onError: () => resolve(undefined),
    onDrain() {},
  };
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: token ${runToken}\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n`;
  pool.send({ head, isHead: false, hasBody: false, isRepeatable: true }, handler);
  return promise;
}
