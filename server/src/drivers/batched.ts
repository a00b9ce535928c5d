/**
 * One work at a time for whoever asks meanwhile: what comes while one is under way is done together by the next. For work
 * that costs the same for one as for many.
 */
export function batched<T>(work: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>) {
  let running: Promise<unknown> = Promise.resolve();
  let waiting: { readonly keys: Set<string>; readonly answer: Promise<ReadonlyMap<string, T>> } | undefined;

  function next(): { readonly keys: Set<string>; readonly answer: Promise<ReadonlyMap<string, T>> } {
    const keys = new Set<string>();
    const answer = running.then(() => {
      waiting = undefined;
      return work([...keys]);
    });
    running = answer.catch(() => {});
    return { keys, answer };
  }

  return async (key: string): Promise<T | undefined> => {
    waiting ??= next();
    waiting.keys.add(key);
    return (await waiting.answer).get(key);
  };
}
