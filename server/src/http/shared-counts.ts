import { hash } from "node:crypto";
import type { FastifyRateLimitStore, FastifyRateLimitStoreCtor } from "@fastify/rate-limit";
import { withTimeout } from "../async/with-timeout.ts";
import { countInWindow } from "../database/count-in-window.ts";
import type { Db } from "../database/database.ts";

/** What one replica may still grant of a key's window without asking the database. */
interface Share {
  left: number;
  /** The window's count at the last answer, by all replicas. */
  count: number;
  endsAtMs: number;
  asking: Promise<void> | undefined;
}

/** One request in twenty of a key asks the database. Two more replicas leave at most a tenth of a limit unused. */
const sharesOfLimit = 20;
const mostKeys = 10_000;
const answerTimeoutMs = 1000;

/**
 * A store of @fastify/rate-limit that counts in the database, so that a limit holds over all replicas and a restart (G175). A
 * replica takes a twentieth of a limit at a time and grants it from memory: no limit is exceeded, and few requests ask. While
 * the database does not answer, each replica counts alone.
 */
export function sharedCounts(db: Db): FastifyRateLimitStoreCtor {
  const shares = new Map<string, Share>();

  function shareOf(key: string): Share {
    const known = shares.get(key);
    if (known) return known;
    const [oldest] = shares.keys();
    if (oldest !== undefined && shares.size >= mostKeys) shares.delete(oldest);
    const share: Share = { left: 0, count: 0, endsAtMs: 0, asking: undefined };
    shares.set(key, share);
    return share;
  }

  async function count(key: string, windowMs: number, max: number): Promise<{ current: number; ttl: number }> {
    const share = shareOf(key);
    for (;;) {
      const ttl = share.endsAtMs - performance.now();
      if (ttl > 0 && share.left > 0) return { current: share.count - --share.left, ttl };
      if (ttl > 0 && share.count >= max) return { current: max + 1, ttl };
      share.asking ??= take(db, key, share, { limit: max, windowMs }).finally(() => {
        share.asking = undefined;
      });
      await share.asking;
    }
  }

  const store: FastifyRateLimitStore = {
    // The types leave out the last two.
    incr(key, callback, ...[windowMs = 0, max = 0]: number[]) {
      count(key, windowMs, max).then(
        (counted) => callback(null, counted),
        (error) => callback(error),
      );
    },
    // Limiters have keys of their own.
    child: () => store,
  };
  // The plugin calls it with `new`.
  return function open() {
    return store;
  } as unknown as FastifyRateLimitStoreCtor;
}

async function take(db: Db, key: string, share: Share, limit: { limit: number; windowMs: number }): Promise<void> {
  const amount = Math.max(1, Math.floor(limit.limit / sharesOfLimit));
  const id = hash("sha256", `requests\0${key}`, "buffer");
  const alone = { granted: limit.limit, count: limit.limit, endsInMs: limit.windowMs };
  const counted = await withTimeout(countInWindow(db, id, limit, amount), answerTimeoutMs, () => alone).catch(
    () => alone,
  );
  share.left = counted.granted;
  share.count = counted.count;
  share.endsAtMs = performance.now() + counted.endsInMs;
}
