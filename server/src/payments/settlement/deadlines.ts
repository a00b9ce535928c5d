import type { RowOf } from "../../database/database.ts";

/** The deadlines of orders, payments and refunds (docs/internals/money.md). */
export const holdMinutes = 15;
export const graceMinutes = 2;
/** From the third unpaid order of an account on (G112). */
export const shortHoldMinutes = 5;
/** Within a day, for one account: eight GPUs for an hour, and never more than all GPUs there are for an hour (G112). */
export const unpaidGpuMinutes = 480;
/** Total hold while a payment is in flight. */
export const holdInPaymentMinutes = 30;
/** So long after an unpaid order ended a payment may still buy it (G314). */
export const lateMinutes = 60;
/** Orders for more hours that an account may open within a day and not pay (G314): they hold nothing, but a price. */
export const unpaidExtensions = 5;
export const draftSeconds = 60;
export const deliverMinutes = 10;
export const bonusHours = 2;
export const pollDays = 5;
export const sweepMinutes = 10;
/** Consecutive sweeps overlap, because the list is ordered by creation and a payment is captured later. */
export const sweepOverlapMinutes = 60;
export const createWaitsMs = 45_000;

const minute = 60_000;
const pollsAfterMs = [0.5, 2, 5, holdMinutes + graceMinutes, 60, 24 * 60, 4 * 24 * 60].map(
  (minutes) => minutes * minute,
);

export function minutesAfter(at: Date, minutes: number): Date {
  return new Date(at.getTime() + minutes * minute);
}

/** End of the hold with its grace: then an unpaid order expires. */
export function holdEnd(order: Pick<RowOf<"orders">, "hold_until">): Date {
  return minutesAfter(order.hold_until, graceMinutes);
}

/**
 * Time of an order's next poll; null when polling is over. Unfinished orders are polled without end, others until
 * `watch_until`, because a second capture can arrive late.
 */
export function nextPoll(
  {
    status,
    created_at,
    watch_until,
    hold_until,
  }: Pick<RowOf<"orders">, "status" | "created_at" | "watch_until" | "hold_until">,
  now: Date,
): Date | null {
  const times = pollsAfterMs.map((ms) => created_at.getTime() + ms);
  if (status === "open") times.push(holdEnd({ hold_until }).getTime());
  const next = Math.min(...times.filter((time) => time > now.getTime()));
  if (Number.isFinite(next)) return new Date(next);
  if (status === "paid" || status === "refunding") return minutesAfter(now, 24 * 60);
  return now < watch_until ? watch_until : null;
}
