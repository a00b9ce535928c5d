/**
 * Resolves as the work does, or after `ms` with what `onTimeout` returns or throws. The work is not aborted; its late
 * result or failure is dropped.
 */
export async function withTimeout<T>(work: Promise<T>, ms: number, onTimeout: () => T): Promise<T> {
  const { promise: expired, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    return await Promise.race([work, expired.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}
