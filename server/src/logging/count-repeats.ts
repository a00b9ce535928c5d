const firstMs = 10_000;
const longestMs = 5 * 60_000;

interface Repeats {
  /** Whether to log this failure. Repeats of the same key are counted; `write` gets the count when the window ends. */
  isFirst(key: string, write: (repeated: number) => void): boolean;
}

interface Window {
  ms: number;
  count: number;
  write: (repeated: number) => void;
}

/** Log throttling: a failure is logged at once, its repeats are counted in windows of 10 s that double up to 5 minutes. */
export function countRepeats(): Repeats {
  const windows = new Map<string, Window>();

  function open(key: string, window: Window): void {
    windows.set(key, window);
    setTimeout(() => close(key, window), window.ms).unref();
  }

  function close(key: string, { ms, count, write }: Window): void {
    windows.delete(key);
    if (count === 0) return;
    open(key, { ms: Math.min(ms * 2, longestMs), count: 0, write });
    write(count);
  }

  return {
    isFirst(key, write) {
      const window = windows.get(key);
      if (!window) {
        open(key, { ms: firstMs, count: 0, write });
        return true;
      }
      window.count++;
      window.write = write;
      return false;
    },
  };
}
