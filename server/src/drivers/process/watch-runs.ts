import { setTimeout as wait } from "node:timers/promises";
import { observeRun } from "./process-run.ts";
import type { RunStates } from "./run-states.ts";

/** Yields the id of a run that began, ended or changed its state, until `signal` aborts. */
export async function* watchRuns(states: RunStates, signal: AbortSignal): AsyncGenerator<string> {
  let before = await snapshot(states);
  while (!signal.aborted) {
    await wait(pollMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    const now = await snapshot(states);
    for (const id of new Set([...before.keys(), ...now.keys()])) if (before.get(id) !== now.get(id)) yield id;
    before = now;
  }
}

const pollMs = 250;

/** Mark and state by id, to detect changes. */
async function snapshot(states: RunStates): Promise<Map<string, string>> {
  const entries = await Promise.all(
    (await states.list()).map(
      async (state) => [state.id, `${state.mark} ${(await observeRun(states, state)).state}`] as const,
    ),
  );
  return new Map(entries);
}
