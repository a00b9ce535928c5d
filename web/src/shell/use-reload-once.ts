import { useEffect, useState } from "react";
import { isChunkFailure } from "./is-chunk-failure.ts";

const key = "chunk_reload_at";
/** A browser drops what it is loading when the machine's network changes; a moment later it can load it. */
const delayMs = 1000;
const againMs = 30_000;

/** Reloads the page for a chunk that failed to load, once in 30 seconds. Returns whether it is about to. */
export function useReloadOnce(error: unknown): boolean {
  // React may throw a first render away and ask again, so asking takes no turn.
  const [isReloading, setReloading] = useState(() => isChunkFailure(error) && isTurn());
  useEffect(() => {
    if (!isReloading) return;
    const timer = setTimeout(() => {
      if (takeTurn()) location.reload();
      else setReloading(false);
    }, delayMs);
    return () => clearTimeout(timer);
  }, [isReloading]);
  return isReloading;
}

function isTurn(): boolean {
  try {
    return Date.now() - Number(sessionStorage.getItem(key) ?? 0) >= againMs;
  } catch {
    return false;
  }
}

/** Without storage reloads could not be counted, and would never end. */
function takeTurn(): boolean {
  try {
    sessionStorage.setItem(key, String(Date.now()));
    return true;
  } catch {
    return false;
  }
}
