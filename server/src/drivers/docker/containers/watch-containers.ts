import { setTimeout as wait } from "node:timers/promises";
import type { Engine } from "../engine/engine.ts";
import { readLines } from "../engine/read-stream.ts";
import { label } from "./container-body.ts";

const reopenMs = 2_000;

/**
 * Environment ids of our containers, one for each event of the engine. A broken stream is opened again from the last event;
 * the engine repeats its newest 256. The caller's own polls find the rest.
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
      // The other operations report an unreachable engine, a timeout or a broken connection.
    }
    await wait(reopenMs, undefined, { signal }).catch(() => {});
  }
}
