import { IdentityError } from "./identity.ts";

/** Throws TOO_MANY_ATTEMPTS_TRY_LATER unless there is nothing to wait for. */
export function refuseUntil(waitMs: number): void {
  if (waitMs > 0)
    throw new IdentityError("TOO_MANY_ATTEMPTS_TRY_LATER", { retryAfterSeconds: Math.ceil(waitMs / 1000) });
}

const capacity = 100_000;

/** So many of a kind within a window that begins with the first. Held in this process. */
export function countWindows(limit: number, windowMs: number) {
  const windows = new Map<string, { count: number; endsAtMs: number }>();

  function makeRoom(): void {
    // All windows are equally long, so the order of insertion is the order in which they end.
    for (const [key, { endsAtMs }] of windows) {
      if (endsAtMs > Date.now() && windows.size < capacity) return;
      windows.delete(key);
    }
  }

  return {
    /** Milliseconds to wait, or 0 when the attempt was counted. */
    take(key: string): number {
      makeRoom();
      const window = windows.get(key) ?? { count: 0, endsAtMs: Date.now() + windowMs };
      if (window.count >= limit) return Math.max(1, window.endsAtMs - Date.now());
      window.count++;
      windows.set(key, window);
      return 0;
    },
    clear: (key: string): void => void windows.delete(key),
  };
}
