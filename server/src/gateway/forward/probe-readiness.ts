import type { Endpoint } from "../../drivers/driver.ts";
import { type ConnectionPool, createConnectionPool, type ExchangeSink } from "../http-client/connection-pool.ts";

const limitMs = 5000;

/**
 * Whether JupyterLab answers through the code that forwards: `GET /api` and `GET /lab` are 200 with its token
 * (docs/internals/runtime.md).
 */
export async function probeReadiness(endpoint: Endpoint, runToken: string): Promise<boolean> {
  const upstream = createConnectionPool(endpoint);
  const limit = setTimeout(upstream.close, limitMs);
  try {
    return (await statusOf(upstream, "/api", runToken)) === 200 && (await statusOf(upstream, "/lab", runToken)) === 200;
  } finally {
    clearTimeout(limit);
    upstream.close();
  }
}

/** Undefined when nothing answered. */
function statusOf(upstream: ConnectionPool, path: string, runToken: string): Promise<number | undefined> {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  let status: number | undefined;
  const sink: ExchangeSink = {
    head(head) {
      status = head.status;
    },
    data: () => false,
    end: () => resolve(status),
    failed: () => resolve(undefined),
    drained() {},
  };
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: token ${runToken}\r\nAccept: */*\r\nConnection: keep-alive\r\n\r\n`;
  upstream.send({ head, noBody: false, hasBody: false, fresh: false }, sink);
  return promise;
}
