import type { Catalogue, PriceVersion } from "./catalogue.ts";

/** Spec 9.1. Money is integer minor units: US cents, Indian paise. */
export const hoursPerMonth = 720;

/** All currencies have hundredths (catalogueProblems). */
const minorPerMajor = 100;

/** A version of the prices, in minor units. */
export interface Prices {
  /** Day it begins, such as "2027-01-31". */
  readonly from: string;
  readonly rows: readonly PriceRow[];
  /** Durations offered. */
  readonly hours: readonly number[];
  /** The first is USD. */
  readonly currencies: readonly CurrencyTerms[];
}

export interface PriceRow {
  readonly gpus: number;
  readonly hourlyCents: number;
  /** Printed as given, never recomputed (G3): the discount against so many single GPUs. */
  readonly hourlyLabel: string;
  /** Null: no monthly plan. */
  readonly monthlyCents: number | null;
  readonly monthlyLabel: string;
}

export interface CurrencyTerms {
  readonly code: string;
  /** Hundredths of a unit for one dollar: 8822 for 88.22. */
  readonly ratePerDollar: number;
  /** Charged totals are a multiple of it, in minor units. */
  readonly roundMinor: number;
}

/** The prices in force at an instant: the last version that has begun, else the first. */
export function pricesAt({ prices }: Pick<Catalogue, "prices">, at: Date): Prices {
  const today = at.toISOString().slice(0, 10);
  const begun = prices.filter(({ from }) => from <= today).at(-1) ?? prices[0];
  if (!begun) throw new Error("a catalogue without prices");
  return inMinor(begun);
}

/** Prices that are announced and have not begun, the next first. */
export function comingPrices({ prices }: Pick<Catalogue, "prices">, at: Date): Prices[] {
  const today = at.toISOString().slice(0, 10);
  return prices.filter(({ from }, index) => index > 0 && from > today).map(inMinor);
}

function inMinor({ from, rows, hours, currencies }: PriceVersion): Prices {
  return {
    from,
    hours,
    rows: rows.map(({ gpus, hourly, hourlyLabel = "", monthly, monthlyLabel = "" }) => ({
      gpus,
      hourlyCents: minor(hourly),
      hourlyLabel,
      monthlyCents: monthly === undefined ? null : minor(monthly),
      monthlyLabel,
    })),
    currencies: currencies.map(({ code, rate, roundTo }) => ({
      code,
      ratePerDollar: minor(rate),
      roundMinor: minor(roundTo),
    })),
  };
}

function minor(amount: number): number {
  return Math.round(amount * minorPerMajor);
}
