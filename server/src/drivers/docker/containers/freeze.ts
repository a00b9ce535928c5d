import { setTimeout as wait } from "node:timers/promises";
import type { Container } from "dockerode";
import { engineErrorOf, orUndefined } from "../engine/engine.ts";

/** A run that is just making processes may outrun the old kind of freezer (cgroup v1), which then lets go: once more. */
export async function freeze(container: Container, abortSignal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      // 409: it ended, or was paused, since the look.
      await orUndefined(container.pause({ abortSignal }), 409);
      return;
    } catch (error) {
      if (!/unable to freeze/.test(engineErrorOf(error)?.words ?? "")) throw error;
      await wait(100, undefined, { signal: abortSignal });
    }
  }
}

/**
 * A container that runs already is thawed. The engine's state may be stale: it hears of a pause a moment after it made
 * it, so it can call a container paused that has just been resumed, and deny it when asked to resume it again.
 */
export async function thaw(container: Container, abortSignal: AbortSignal): Promise<void> {
  try {
    await orUndefined(container.unpause({ abortSignal }));
  } catch (error) {
    if (!/not paused/.test(engineErrorOf(error)?.words ?? "")) throw error;
  }
}
