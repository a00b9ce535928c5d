/** What is left of a payment's hours. Amounts of one currency in minor units. */
interface Prepaid {
  readonly paidMinor: number;
  readonly secondsLeft: number;
  readonly bookedSeconds: number;
}

/** Seconds until the end, or those of a clock that stands; 0 after the end. `nowMs` since the epoch. */
export function secondsLeft(
  { expires_at, banked_seconds }: { readonly expires_at: string | null; readonly banked_seconds: number },
  nowMs: number,
): number {
  return Math.max(0, expires_at === null ? banked_seconds : (Date.parse(expires_at) - nowMs) / 1000);
}

/** The share of a payment that its time left is worth, as a refund counts it (docs/use/refunds.md): rounded down. */
export function unusedMinor({ paidMinor, secondsLeft, bookedSeconds }: Prepaid): number {
  return bookedSeconds > 0 ? Math.floor(paidMinor * Math.min(1, secondsLeft / bookedSeconds)) : 0;
}
