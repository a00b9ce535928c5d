import { type IncomingMessage, request } from "node:http";
import type { Endpoint } from "../drivers/driver.ts";

const maxResponseLength = 1_000_000;

export interface JupyterAnswer {
  /** By JupyterLab's own clock; NaN without one. */
  readonly nowMs: number;
  /** Undefined with another status than 200. The owner's code can answer in its place: not trusted. */
  readonly body: unknown;
  readonly status: number | undefined;
}

/** One GET of a run's JupyterLab. Throws when it does not respond, or with no end of its response. */
export async function askJupyter(
  endpoint: Endpoint,
  runToken: string,
  path: string,
  signal: AbortSignal,
): Promise<JupyterAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<JupyterAnswer>();
  const headers = { host: "localhost", authorization: `token ${runToken}`, accept: "application/json" };
  request({ ...endpoint, path, headers, agent: false, signal }, (response) => {
    const { statusCode: status } = response;
    const nowMs = Date.parse(response.headers.date ?? "");
    readBody(response).then((body) => resolve({ nowMs, body, status }), reject);
  })
    .on("error", reject)
    .end();
  return await promise;
}

async function readBody(response: IncomingMessage): Promise<unknown> {
  let body = "";
  for await (const piece of response.setEncoding("utf8")) {
    body += piece;
    if (body.length > maxResponseLength) throw new Error("JupyterLab's response has no end");
  }
  return response.statusCode === 200 ? JSON.parse(body) : undefined;
}
