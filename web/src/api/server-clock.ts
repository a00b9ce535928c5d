/** A smaller difference comes from the network and from the header, which has whole seconds. */
const toleratedMs = 5_000;

let aheadMs = 0;

/**
 * The server's time in milliseconds since the epoch. A browser's clock may be a day off, and must not make anything look
 * expired.
 */
export function serverNow(): number {
  return Date.now() + aheadMs;
}

/** Notes how far the server's clock is ahead. `date` is the header of a response; an unreadable one is ignored. */
export function learnTime(date: string | null, now: number = Date.now()): void {
  const serverMs = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(serverMs)) return;
  const measuredMs = serverMs - now;
  // A difference that is about the same changes nothing, so that the screens do not jitter.
  if (Math.abs(measuredMs - aheadMs) > toleratedMs) aheadMs = Math.abs(measuredMs) > toleratedMs ? measuredMs : 0;
}
