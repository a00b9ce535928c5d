import type { Changes } from "../../database/changes.ts";

interface Wait<T> {
  readonly changes: Changes;
  readonly userId: string;
  readonly timeoutMs: number;
  /** Looks again even when nothing was heard. */
  readonly fallbackMs: number;
  readonly signal?: AbortSignal;
  /** Undefined: not yet. */
  readonly read: () => Promise<T | undefined>;
}

/** Reads now and after every change of this user until there is an answer; undefined when the time is over first. */
export async function waitUntil<T>({
  changes,
  userId,
  timeoutMs,
  fallbackMs,
  signal,
  read,
}: Wait<T>): Promise<T | undefined> {
  const endsAt = performance.now() + timeoutMs;
  let heard = false;
  let wake = () => {};
  const hear = () => {
    heard = true;
    wake();
  };
  // Subscribed before the first read: a change between reading and subscribing would be lost.
  const unsubscribe = changes.subscribe(({ user }) => user === userId && hear(), hear);
  signal?.addEventListener("abort", hear);
  try {
    for (;;) {
      heard = false;
      const answer = await read();
      const leftMs = endsAt - performance.now();
      if (answer !== undefined || leftMs <= 0 || signal?.aborted) return answer;
      if (heard) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      wake = resolve;
      const timer = setTimeout(resolve, Math.min(leftMs, fallbackMs));
      await promise;
      clearTimeout(timer);
    }
  } finally {
    unsubscribe();
    signal?.removeEventListener("abort", hear);
  }
}
