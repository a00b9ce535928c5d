import { hoursPerMonth, type Prices } from "./prices.ts";

export interface Quote {
  /** List price in US cents: what billing shows (G7). */
  readonly usdMinor: number;
  /** What is charged, in minor units of `currency`. */
  readonly amountMinor: number;
  readonly currency: string;
}

export type Plan = "hourly" | "monthly";

export function planOf(hours: number): Plan {
  return hours === hoursPerMonth ? "monthly" : "hourly";
}

/**
 * The price that the app shows and the server charges: hours times the hourly price, or the monthly one (G1, G5, G8).
 * Throws for what the prices do not name; `isOffered` asks.
 */
export function quote({ rows, currencies }: Prices, gpus: number, hours: number, currency: string): Quote {
  const row = rows.find((candidate) => candidate.gpus === gpus);
  if (!row) throw new Error(`no price for ${gpus} GPUs`);
  const terms = currencies.find(({ code }) => code === currency);
  if (!terms) throw new Error(`no price in ${currency}`);
  const usdMinor = planOf(hours) === "monthly" ? row.monthlyCents : row.hourlyCents * hours;
  if (usdMinor === null) throw new Error(`no price for ${hours} hours`);
  return { usdMinor, amountMinor: chargedMinor(usdMinor, terms), currency };
}

/** Converted by the rate in hundredths, and rounded once, half up, on the final total (G8): INR gets whole rupees. */
export function chargedMinor(
  usdMinor: number,
  { ratePerDollar, roundMinor }: Pick<Prices["currencies"][number], "ratePerDollar" | "roundMinor">,
): number {
  const step = 100 * roundMinor;
  return Math.floor((usdMinor * ratePerDollar + step / 2) / step) * roundMinor;
}

/** Minor to major units (G9): 40 cents are 0.4, the nearest double. */
export function major(minor: number): number {
  return minor / 100;
}

/** Major to minor units; undefined if the result is not an integer. */
export function minorOf(amount: number): number | undefined {
  const minor = Math.round(amount * 100);
  return Number.isSafeInteger(minor) && minor / 100 === amount ? minor : undefined;
}
