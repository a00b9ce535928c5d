import { setTimeout as wait } from "node:timers/promises";
import type { Container } from "dockerode";
import { engineErrorOf, orUndefined } from "../engine/engine-errors.ts";

/** Tries again while the freezer of cgroup v1 gives up: a container that is just making processes may outrun it. */
export async function freeze(container: Container, abortSignal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      // 409: it ended or was paused since it was read.
      await orUndefined(container.pause({ abortSignal }), 409);
      return;
    } catch (error) {
      if (engineErrorOf(error)?.kind !== "cannot_freeze") throw error;
      await wait(100, undefined, { signal: abortSignal });
    }
  }
}

/**
 * No-op for a container that runs already. The engine's state may be stale: it learns of a pause a moment after it made
 * it, so it can report a container as paused that has just been resumed, and refuse to resume it again.
 */
export async function thaw(container: Container, abortSignal: AbortSignal): Promise<void> {
  try {
    await orUndefined(container.unpause({ abortSignal }));
  } catch (error) {
    if (engineErrorOf(error)?.kind !== "not_paused") throw error;
  }
}
