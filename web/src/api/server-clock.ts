/** A difference up to this many milliseconds is the way's and the header's, which has whole seconds. */
const toleratedMs = 5_000;

let aheadMs = 0;

/**
 * The server's time in milliseconds since the epoch. A browser's clock may be a day off; what the server said to expire
 * at noon must not look expired because of that.
 */
export function serverNow(): number {
  return Date.now() + aheadMs;
}

/** Learns from an answer how far the server's clock is ahead. `date` is the header; none or nonsense teaches nothing. */
export function learnTime(date: string | null, now: number = Date.now()): void {
  const told = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(told)) return;
  const measuredMs = told - now;
  // Kept while it is about the same, so that what is shown does not jitter.
  if (Math.abs(measuredMs - aheadMs) > toleratedMs) aheadMs = Math.abs(measuredMs) > toleratedMs ? measuredMs : 0;
}
