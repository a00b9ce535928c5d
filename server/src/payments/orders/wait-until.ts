import type { Changes } from "../../database/changes.ts";

interface Wait<T> {
  readonly changes: Changes;
  readonly userId: string;
  readonly timeoutMs: number;
  /** Interval of reads without a notification. */
  readonly fallbackMs: number;
  readonly signal?: AbortSignal;
  /** Undefined: not yet. */
  readonly read: () => Promise<T | undefined>;
}

/** Reads now and after every change of this user until `read` returns a value; returns undefined on timeout. */
export async function waitUntil<T>({
  changes,
  userId,
  timeoutMs,
  fallbackMs,
  signal,
  read,
}: Wait<T>): Promise<T | undefined> {
  const endsAt = performance.now() + timeoutMs;
  let changed = false;
  let wake = () => {};
  const onChange = () => {
    changed = true;
    wake();
  };
  // Subscribed before the first read: a change between reading and subscribing would be lost.
  const unsubscribe = changes.subscribe(({ user }) => user === userId && onChange(), onChange);
  signal?.addEventListener("abort", onChange);
  try {
    for (;;) {
      changed = false;
      const value = await read();
      const leftMs = endsAt - performance.now();
      if (value !== undefined || leftMs <= 0 || signal?.aborted) return value;
      if (changed) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = setTimeout(resolve, Math.min(leftMs, fallbackMs));
      await promise;
      clearTimeout(timer);
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener("abort", onChange);
  }
}
