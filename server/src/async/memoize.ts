/** A value is cached for this multiple of its read's duration, so that reads take at most a twentieth of the time. */
const keepFactor = 20;

/** Caches one value for all callers: for `leastMs`, and longer where the read is slow. A failure is not cached. */
export function memoize<T>(read: () => Promise<T>, leastMs = 2000): () => Promise<T> {
  let cached: { readonly value: Promise<T>; until: number } | undefined;
  return () => {
    if (cached && performance.now() < cached.until) return cached.value;
    const startedAt = performance.now();
    const entry = { value: read(), until: Number.POSITIVE_INFINITY };
    cached = entry;
    entry.value.then(
      () => {
        const readMs = performance.now() - startedAt;
        entry.until = performance.now() + Math.max(leastMs, readMs * keepFactor);
      },
      () => {
        entry.until = 0;
      },
    );
    return entry.value;
  };
}
