/**
 * Lets `atOnce` works run and `waiting` more wait in order; whoever comes then is refused with `refusal()`, because a
 * longer queue would only make everybody's answer late.
 */
export function limitConcurrency(
  { atOnce, waiting }: { atOnce: number; waiting: number },
  refusal: () => Error,
): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const queue: (() => void)[] = [];

  async function enter(): Promise<void> {
    if (running < atOnce) {
      running++;
      return;
    }
    if (queue.length >= waiting) throw refusal();
    await new Promise<void>((resolve) => queue.push(resolve));
  }

  function leave(): void {
    const next = queue.shift();
    if (next) next();
    else running--;
  }

  return async (work) => {
    await enter();
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
