import { Agent, type IncomingMessage, request } from "node:http";
import { json as readJson } from "node:stream/consumers";
import { checkSegment, checkSpec } from "../check-segment.ts";
import { type Driver, DriverError, type DriverErrorCode, type Observed } from "../driver.ts";
import { limitOperation } from "../limit-operation.ts";
import { readLines } from "../read-lines.ts";

interface Calls {
  call<T>(operation: string, args?: readonly unknown[], given?: AbortSignal): Promise<T>;
  stream(operation: string, args: readonly unknown[], signal: AbortSignal): AsyncGenerator<Uint8Array>;
}

function openCalls(port: number): Calls {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const send = (operation: string, args: readonly unknown[], signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const options = { host: "127.0.0.1", port, method: "POST", path: `/${operation}`, agent, signal };
    request(options, resolve).on("error", reject).end(JSON.stringify(args));
    return promise;
  };
  const called = `The fake engine at ${port}`;
  return {
    call: (operation, args = [], given = undefined) =>
      limitOperation(async (signal) => await resultOf(await send(operation, args, signal)), { called, explain, given }),
    async *stream(operation, args, signal) {
      try {
        yield* await send(operation, args, signal);
      } catch (error) {
        throw signal.aborted ? signal.reason : explain(error);
      }
    },
  };
}

/** What happens on another process's fake machine (serve-fake-engine.ts), so that several workers share one. */
export function fakeEngineDriver(port: number): Driver {
  const { call, stream } = openCalls(port);
  return {
    kind: "fake",
    machineId: () => call("machineId"),
    capabilities: () => call("capabilities"),
    async prepare(image, progress) {
      checkSegment("image", image);
      await call("prepare", [image]);
      progress?.(100);
    },
    observe: async (id) => observed(await call("observe", [id])),
    async list() {
      const runs = await call<{ id: string; observed: Observed }[]>("list");
      return runs.map((run) => ({ id: run.id, observed: observed(run.observed) }));
    },
    async start(spec, signal) {
      checkSpec(spec);
      await call("start", [spec], signal);
    },
    pause: (id) => call("pause", [id]),
    stop: (id, graceMs) => call("stop", [id, graceMs]),
    remove: (id) => call("remove", [id]),
    deleteHome: (home) => call("deleteHome", [home]),
    homeMb: (home) => call("homeMb", [home]),
    archive: (home, signal) => stream("archive", [checkSegment("home", home)], signal),
    countHome: (home, signal) => call("countHome", [home], signal),
    async restore({ home, limits }, archive, signal) {
      const pieces: Uint8Array[] = [];
      for await (const piece of archive) pieces.push(piece);
      await call("restore", [{ home, limits }, Buffer.concat(pieces).toString("base64")], signal);
    },
    stats: (id) => call("stats", [id]),
    processes: (id) => call("processes", [id]),
    gpuFault: (id) => call("gpuFault", [id]),
    gpuLeftovers: async (ids) => new Map(await call<[string, string][]>("gpuLeftovers", [ids])),
    logs: (id, { signal, ...options }) => lines(stream("logs", [id, options], signal), signal),
    watch: (signal) => lines(stream("watch", [], signal), signal),
  };
}

async function resultOf<T>(reply: IncomingMessage): Promise<T> {
  const body = (await readJson(reply)) as { value: T; code?: DriverErrorCode; message?: string };
  if (reply.statusCode === 200) return body.value;
  throw body.code ? new DriverError(body.code, body.message ?? "") : new Error(body.message);
}

function explain(error: unknown): unknown {
  if (error instanceof DriverError || !(error instanceof Error) || !("code" in error)) return error;
  return new DriverError("unavailable", `The fake engine does not answer: ${error.message}`, { cause: error });
}

/** JSON has no dates. */
function observed(value: Observed): Observed {
  if (value.state === "absent") return value;
  const { createdAt, startedAt } = value;
  return { ...value, createdAt: new Date(createdAt), ...(startedAt && { startedAt: new Date(startedAt) }) };
}

/** They end with the signal. */
async function* lines(chunks: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<string> {
  try {
    for await (const line of readLines(chunks as AsyncIterable<Buffer>)) yield JSON.parse(line);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
