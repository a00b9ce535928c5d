import { duration, money } from "../../format.ts";
import type { Detail } from "./environment.ts";

type Given = Pick<Detail, "expires_at" | "banked_seconds" | "booked">;

/**
 * What an end gives up, in time and money: "1h 47m, $0.35 of $0.40". The share is that of a refund
 * (docs/use/refunds.md). Undefined with no time left; without money where none was paid. `now` in ms since the epoch.
 */
export function givenUp({ expires_at, banked_seconds, booked }: Given, now: number): string | undefined {
  const seconds = expires_at === null ? banked_seconds : (Date.parse(expires_at) - now) / 1000;
  if (!(seconds > 0)) return undefined;
  const share = booked && booked.hours > 0 ? Math.min(1, seconds / (booked.hours * 3600)) : 0;
  const sums = (booked?.paid ?? []).map(({ currency, amount }) => {
    const paidMinor = Math.round(amount * 100);
    return `${money(Math.floor(paidMinor * share), currency)} of ${money(paidMinor, currency)}`;
  });
  return [duration(seconds), ...sums].join(", ");
}
