import type { Container } from "dockerode";
import type { Engine } from "../engine/engine.ts";
import { orUndefined } from "../engine/engine-errors.ts";
import { readFrames, readLines } from "../engine/read-stream.ts";

interface LogOptions {
  readonly tail: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

/** Lines of a container's stdout and stderr; none for a container that does not exist. Ends with the container or the signal. */
export async function* containerLogs(
  { withTimeout, explain }: Engine,
  container: Container,
  { tail, follow, signal }: LogOptions,
): AsyncIterable<string> {
  const options = { stdout: true, stderr: true, tail };
  try {
    if (!follow) {
      const all = await withTimeout((abortSignal) =>
        orUndefined(container.logs({ ...options, follow: false, abortSignal })),
      );
      if (all) yield* readLines(outputOf(only(all)));
      return;
    }
    const stream = await orUndefined(container.logs({ ...options, follow: true, abortSignal: signal }));
    if (stream) yield* readLines(outputOf(stream as AsyncIterable<Buffer>));
  } catch (error) {
    if (signal.aborted) return;
    throw explain(error);
  }
}

async function* only(chunk: Buffer): AsyncIterable<Buffer> {
  yield chunk;
}

async function* outputOf(chunks: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  for await (const { bytes } of readFrames(chunks)) yield bytes;
}
