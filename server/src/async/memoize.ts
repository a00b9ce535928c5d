/** Times what a reading took: however many ask, it is at work a twentieth of the time. */
const restFactor = 20;

/**
 * Keeps an answer that everybody may see: for two seconds or `leastMs`, and longer where reading it is slow. Who asks meanwhile gets
 * the same one, also while it is still being read. A failure is not kept.
 */
export function remember<T>(read: () => Promise<T>, leastMs = 2000): () => Promise<T> {
  let kept: { readonly answer: Promise<T>; until: number } | undefined;
  return () => {
    if (kept && performance.now() < kept.until) return kept.answer;
    const began = performance.now();
    const now = { answer: read(), until: Number.POSITIVE_INFINITY };
    kept = now;
    now.answer.then(
      () => {
        const took = performance.now() - began;
        now.until = performance.now() + Math.max(leastMs, took * restFactor);
      },
      () => {
        now.until = 0;
      },
    );
    return now.answer;
  };
}
