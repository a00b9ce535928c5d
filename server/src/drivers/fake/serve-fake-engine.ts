import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { json as readJson } from "node:stream/consumers";
import { type Driver, DriverError } from "../driver.ts";

/** A fake machine that several processes use, as an engine is: each with `engine=PORT` in FAKE_DRIVER. */
export interface FakeEngine {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves a driver on 127.0.0.1: the operation is the path, its arguments are the body (fake-engine-driver.ts). */
export async function serveFakeEngine(driver: Driver): Promise<FakeEngine> {
  const server = createServer((request, response) => {
    const left = new AbortController();
    response.on("close", () => left.abort(new Error("the caller left")));
    reply(driver, request, response, left.signal).catch((error: unknown) => response.destroy(error as Error));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function reply(driver: Driver, request: IncomingMessage, response: ServerResponse, signal: AbortSignal) {
  const operation = (request.url ?? "").slice(1);
  const given = (await readJson(request)) as never[];
  if (operation === "watch" || operation === "logs") return pipe(response, linesOf(driver, operation, given, signal));
  if (operation === "archive") return pipe(response, driver.archive(given[0] ?? "", signal));
  const args = argsOf(operation, given, signal);
  const call = (driver as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>)[operation];
  const [status, body] = await Promise.resolve(call?.(...args)).then(
    (value) => [200, { value: value instanceof Map ? [...value] : value }] as const,
    (error: unknown) => [500, failureOf(error)] as const,
  );
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** JSON has neither signals nor bytes. */
function argsOf(operation: string, given: readonly unknown[], signal: AbortSignal): readonly unknown[] {
  if (operation === "restore") return [given[0], Readable.from([Buffer.from(String(given[1]), "base64")]), signal];
  return operation === "start" || operation === "countHome" ? [...given, signal] : given;
}

function failureOf(error: unknown) {
  return { code: error instanceof DriverError ? error.code : undefined, message: String((error as Error).message) };
}

async function* linesOf(driver: Driver, operation: "watch" | "logs", args: never[], signal: AbortSignal) {
  const [id, options] = args as unknown as [string, { tail: number; follow: boolean }];
  const lines = operation === "watch" ? driver.watch(signal) : driver.logs(id, { ...options, signal });
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}

function pipe(response: ServerResponse, chunks: AsyncIterable<unknown>): void {
  response.writeHead(200);
  response.flushHeaders();
  Readable.from(chunks)
    .on("error", () => response.destroy())
    .pipe(response);
}
