import { setTimeout as wait } from "node:timers/promises";
import type { Container } from "dockerode";
import { type Engine, orUndefined } from "../engine/engine.ts";
import { label } from "./container-body.ts";

const reopenMs = 2_000;
const headBytes = 8;

/**
 * Ids of our containers as the engine's events name them. A stream that breaks is opened again from the last event seen:
 * the engine still tells the newest 256. What happened while it was dead is found by the caller's own looks.
 */
export async function* watchContainers(
  { docker }: Engine,
  install: string,
  signal: AbortSignal,
): AsyncIterable<string> {
  let since = Date.now() / 1000;
  while (!signal.aborted) {
    try {
      const filters = { type: ["container" as const], label: [`${label.install}=${install}`, label.environment] };
      const events = await docker.getEvents({ since, filters, abortSignal: signal });
      for await (const line of readLines(events as AsyncIterable<Buffer>)) {
        const { timeNano, Actor } = JSON.parse(line);
        since = timeNano / 1e9;
        yield String(Actor.Attributes[label.environment]);
      }
    } catch {
      // Away, slow or cut, and a verb will say so: it is tried again below.
    }
    await wait(reopenMs, undefined, { signal }).catch(() => {});
  }
}

export interface LogOptions {
  readonly tail: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/** What a run wrote, line by line; a run that is not there has no lines. Ends with the run, or with its signal. */
export async function* containerLogs(
  { withTimeout, explain }: Engine,
  container: Container,
  options: LogOptions,
): AsyncIterable<string> {
  const { tail, follow, signal } = options;
  const wanted = { stdout: true, stderr: true, tail };
  try {
    if (!follow) {
      const all = await withTimeout((abortSignal) =>
        orUndefined(container.logs({ ...wanted, follow: false, abortSignal })),
      );
      if (all) yield* readLines(bytesOf(readFrames(once(all))));
      return;
    }
    const stream = await orUndefined(container.logs({ ...wanted, follow: true, abortSignal: signal }));
    if (stream) yield* readLines(bytesOf(readFrames(stream as AsyncIterable<Buffer>)));
  } catch (error) {
    if (signal.aborted) return;
    throw explain(error);
  }
}

async function* once(chunk: Buffer): AsyncIterable<Buffer> {
  yield chunk;
}

interface Frame {
  readonly kind: "stdout" | "stderr";
  readonly bytes: Buffer;
}

async function* bytesOf(frames: AsyncIterable<Frame>): AsyncIterable<Buffer> {
  for await (const { bytes } of frames) yield bytes;
}

/** The engine's frames: a kind, three zeros, a length of 32 bits, then that many bytes. */
export async function* readFrames(chunks: AsyncIterable<Buffer>): AsyncIterable<Frame> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= headBytes) {
      const end = headBytes + rest.readUInt32BE(4);
      if (rest.length < end) break;
      yield { kind: rest[0] === 2 ? "stderr" : "stdout", bytes: rest.subarray(headBytes, end) };
      rest = rest.subarray(end);
    }
  }
}

const longestLine = 1_000_000;

/** Whole lines of text; whoever reads them decides what they are. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    // Whoever writes no line ends must not fill the server's memory.
    if (rest.length > longestLine) lines.push(rest);
    if (rest.length > longestLine) rest = "";
    yield* lines;
  }
  if (rest) yield rest;
}
