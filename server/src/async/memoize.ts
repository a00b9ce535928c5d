/** A value is kept for this many times what its reading took, so that reading takes a twentieth of the time at most. */
const keepFactor = 20;

/** Shares one value between all callers: for `leastMs`, and longer where reading is slow. A failure is not kept. */
export function memoize<T>(read: () => Promise<T>, leastMs = 2000): () => Promise<T> {
  let kept: { readonly answer: Promise<T>; until: number } | undefined;
  return () => {
    if (kept && performance.now() < kept.until) return kept.answer;
    const began = performance.now();
    const now = { answer: read(), until: Number.POSITIVE_INFINITY };
    kept = now;
    now.answer.then(
      () => {
        const took = performance.now() - began;
        now.until = performance.now() + Math.max(leastMs, took * keepFactor);
      },
      () => {
        now.until = 0;
      },
    );
    return now.answer;
  };
}
