import { withTimeout } from "../async/with-timeout.ts";

interface Reading<T> {
  /** Called again when its last result is too old. */
  readonly read: () => Promise<T>;
  /** How long a result is kept. A slow read is kept for at least twenty times its duration. */
  readonly keepMs: (value: T | undefined) => number;
  /** How long a caller waits for a read in progress. */
  readonly waitMs: number;
  /** What is returned after a failure, or a wait in vain: the value before, or none. */
  readonly isOldUsable: boolean;
}

const keepFactor = 20;
/** A read that hangs for this long, as on a connection that died in silence, is left behind for a new one. */
const stuckMs = 180_000;

/** One value for all callers, read at most so often and never twice at once. Never rejects. */
export function keepReading<T>({ read, keepMs, waitMs, isOldUsable }: Reading<T>): () => Promise<T | undefined> {
  let last: { readonly value: T | undefined; readonly until: number } | undefined;
  let running: { readonly since: number; readonly ended: Promise<void> } | undefined;

  const old = () => (isOldUsable ? last?.value : undefined);

  function begin(): Promise<void> {
    const since = performance.now();
    const end = (value: T | undefined) => {
      if (running !== current) return;
      const now = performance.now();
      last = { value, until: now + Math.max(keepMs(value), (now - since) * keepFactor) };
      running = undefined;
    };
    const ended = read().then(end, () => end(old()));
    const current = { since, ended };
    running = current;
    return ended;
  }

  return async () => {
    const now = performance.now();
    if (last && now < last.until) return last.value;
    const ended = running && now - running.since < stuckMs ? running.ended : begin();
    const isInTime = await withTimeout(
      ended.then(() => true),
      waitMs,
      () => false,
    );
    return isInTime ? last?.value : old();
  };
}
