/**
 * localStorage that never throws. If the browser refuses storage (private windows, policies) or it is full, values last as
 * long as the page.
 */
const memory = new Map<string, string>();

export function readStorage(key: string): string | null {
  const kept = memory.get(key);
  if (kept !== undefined) return kept;
  try {
    return globalThis.localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Null removes the key. */
export function writeStorage(key: string, value: string | null): void {
  memory.delete(key);
  try {
    if (value === null) globalThis.localStorage.removeItem(key);
    else globalThis.localStorage.setItem(key, value);
  } catch {
    if (value !== null) memory.set(key, value);
  }
}
