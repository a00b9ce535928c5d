import { useEffect, useState } from "react";
import { isChunkFailure } from "./is-chunk-failure.ts";

const key = "chunk_reloads";
const maxReloads = 3;
const windowMs = 30_000;
/** A browser drops what it is loading at each change of the machine's network, of which one change of address makes several. */
const delayMs = 1000;

/**
 * Reloads the page for a chunk that failed to load, three times in 30 seconds, then once it can be loaded, and whenever the
 * connection returns. Returns whether it is about to. Without a connection it waits, because the reload would show the
 * browser's own page.
 */
export function useReload(error: unknown): boolean {
  // React may throw a first render away and ask again, so asking counts nothing.
  const [isReloading, setReloading] = useState(() => isChunkFailure(error) && mayReload());
  useEffect(() => {
    if (!isChunkFailure(error)) return;
    const left = new AbortController();
    const { signal } = left;
    // The browser may say so a moment too early, and says it once.
    const reload = () =>
      void fetch(location.pathname, { method: "HEAD", cache: "no-store", signal }).then(
        () => location.reload(),
        () => signal.aborted || setTimeout(reload, delayMs),
      );
    window.addEventListener("online", reload, { signal });
    return () => left.abort();
  }, [error]);
  useEffect(() => {
    const chunk = chunkOf(error);
    if (isReloading || !chunk) return;
    // A change of the network is no loss of the connection, and may outlast three reloads.
    const timer = setInterval(async () => setReloading(mayReload() && (await isThere(chunk))), delayMs);
    return () => clearInterval(timer);
  }, [error, isReloading]);
  useEffect(() => {
    if (!isReloading) return;
    const timer = setTimeout(() => {
      if (countReload()) location.reload();
      else setReloading(false);
    }, delayMs);
    return () => clearTimeout(timer);
  }, [isReloading]);
  return isReloading;
}

function mayReload(): boolean {
  return globalThis.navigator?.onLine !== false && recentReloads().length < maxReloads;
}

/** The address at the end of the browser's message; Safari's has none. */
function chunkOf(error: unknown): string | undefined {
  const last = isChunkFailure(error) ? (error as Error).message.split(" ").at(-1) : undefined;
  return last && /^(?:https?:\/)?\//.test(last) ? last : undefined;
}

function isThere(chunk: string): Promise<boolean> {
  return fetch(chunk, { method: "HEAD", cache: "no-store" }).then(
    ({ ok }) => ok,
    () => false,
  );
}

function recentReloads(): number[] {
  try {
    const times: number[] = JSON.parse(sessionStorage.getItem(key) ?? "[]");
    return times.filter((time) => Date.now() - time < windowMs);
  } catch {
    return [];
  }
}

/** Without storage reloads could not be counted, and would never end. */
function countReload(): boolean {
  try {
    sessionStorage.setItem(key, JSON.stringify([...recentReloads(), Date.now()]));
    return true;
  } catch {
    return false;
  }
}
