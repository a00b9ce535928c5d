import { memoize } from "./memoize.ts";

/**
 * Reads once, and again when it is asked `everyMs` after that, in the background: nobody waits, and while reading fails the
 * value of before stays. The first read may throw.
 */
export async function keepLatest<T>(read: () => Promise<T>, everyMs: number): Promise<() => T> {
  let latest = await read();
  const refresh = memoize(async () => {
    latest = await read();
  }, everyMs);
  return () => {
    refresh().catch(() => {});
    return latest;
  };
}
