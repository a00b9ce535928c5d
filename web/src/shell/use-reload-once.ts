import { useEffect, useState } from "react";
import { isChunkFailure } from "./is-chunk-failure.ts";

const key = "chunk_reload_at";
/** A browser drops what it is loading when the machine's network changes; a moment later it can load it. */
const delayMs = 1000;
const againMs = 30_000;

/** Reloads the page for a chunk that failed to load, once in 30 seconds. Returns whether it is about to. */
export function useReloadOnce(error: unknown): boolean {
  const [isReloading] = useState(() => isChunkFailure(error) && takeTurn());
  useEffect(() => {
    if (!isReloading) return;
    const timer = setTimeout(() => location.reload(), delayMs);
    return () => clearTimeout(timer);
  }, [isReloading]);
  return isReloading;
}

/** Without storage it could not be counted, and would never end. */
function takeTurn(): boolean {
  try {
    const last = Number(sessionStorage.getItem(key) ?? 0);
    if (Date.now() - last < againMs) return false;
    sessionStorage.setItem(key, String(Date.now()));
    return true;
  } catch {
    return false;
  }
}
