import type { Prices } from "./prices.ts";
import { planOf, quote } from "./pricing.ts";

/** Something that costs more than before, in minor units of `currency`. */
export interface PriceRaise {
  readonly gpus: number;
  readonly hours: number;
  readonly currency: string;
  readonly beforeMinor: number;
  readonly afterMinor: number;
}

/**
 * What costs more by `after` than by `before`, of what both sell. An hourly price counts for every duration: other hours at a
 * higher price per hour are a raise too.
 */
export function priceRaises(before: Prices, after: Prices): PriceRaise[] {
  return after.rows.flatMap(({ gpus }) =>
    after.hours.flatMap((hours) =>
      after.currencies.flatMap(({ code: currency }) => {
        const beforeMinor = amountOf(before, gpus, hours, currency);
        const afterMinor = amountOf(after, gpus, hours, currency);
        const isRaised = beforeMinor !== undefined && afterMinor !== undefined && afterMinor > beforeMinor;
        return isRaised ? [{ gpus, hours, currency, beforeMinor, afterMinor }] : [];
      }),
    ),
  );
}

/** Undefined: not sold. */
function amountOf(prices: Prices, gpus: number, hours: number, currency: string): number | undefined {
  const { rows, currencies } = prices;
  const plan = planOf(hours);
  const isSold =
    prices.hours.some((each) => planOf(each) === plan) &&
    rows.some((row) => row.gpus === gpus) &&
    currencies.some(({ code }) => code === currency);
  return isSold ? quote(prices, gpus, hours, currency).amountMinor : undefined;
}
