import { get, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { Config } from "../config/config.ts";

const timeoutMs = 5_000;

/**
 * Asks this machine's server for `/readyz`: at METRICS_PORT, which every role has, or else at PORT by the app's name. Returns
 * undefined when it is ready, otherwise the reason in a sentence.
 */
export async function checkHealth({ metrics, port, appUrl }: Config): Promise<string | undefined> {
  const at = metrics.port ?? port;
  const host = metrics.port === undefined && appUrl ? new URL(appUrl).host : `localhost:${at}`;
  const address = metrics.port === undefined || isAny(metrics.host) ? "127.0.0.1" : metrics.host;
  try {
    const { status, message } = await ask({ address, port: at, host });
    return status === 200 ? undefined : `The server at port ${at} is not ready: ${message ?? status}.`;
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? error.code : error;
    return `No server answers at port ${at} of this machine: ${reason}.`;
  }
}

/** Whether it listens on every address, loopback among them. */
const isAny = (address: string) => address === "0.0.0.0" || address === "::";

interface Asked {
  readonly address: string;
  readonly port: number;
  /** The name in the request. */
  readonly host: string;
}

async function ask({ address, port, host }: Asked): Promise<{ readonly status: number; readonly message?: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const signal = AbortSignal.timeout(timeoutMs);
  get({ host: address, port, path: "/readyz", headers: { host }, agent: false, signal }, resolve).on("error", reject);
  const response = await promise;
  const body = await text(response);
  const isJson = String(response.headers["content-type"]).includes("json");
  return { status: response.statusCode ?? 0, ...(isJson && { message: JSON.parse(body).message }) };
}
