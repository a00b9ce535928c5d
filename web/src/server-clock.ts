/** Smaller differences are network delay and the header's precision of one second. */
const toleratedMs = 5_000;

let aheadMs = 0;

/**
 * The server's time in milliseconds since the epoch. With the browser's clock, which may be a day off, things could look
 * expired.
 */
export function serverNow(): number {
  return Date.now() + aheadMs;
}

/** Sets the offset of the server's clock. `date` is a response header; an unreadable one is ignored. */
export function learnTime(date: string | null, now: number = Date.now()): void {
  const serverMs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(serverMs)) return;
  const measuredMs = serverMs - now;
  // Ignores small changes, so that the screens do not jitter.
  if (Math.abs(measuredMs - aheadMs) > toleratedMs) aheadMs = Math.abs(measuredMs) > toleratedMs ? measuredMs : 0;
}
