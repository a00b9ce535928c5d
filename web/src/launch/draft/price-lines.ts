import { durationLabel, minimumChanges, planOf, plural, quote } from "@berth/contract";
import { prices } from "../../catalogue.ts";
import type { UnitWords } from "../../content/unit-words.ts";
import { money, moneyShort } from "../../format.ts";
import type { Draft } from "./draft.ts";

export interface PriceLines {
  /** In every currency, the list currency first. */
  readonly totals: readonly { readonly currency: string; readonly text: string }[];
  /** The amount charged; `other` is the same in the other currencies. */
  readonly charged: string;
  readonly other: string;
  readonly rate: string;
  readonly amountMinor: number;
}

/** The order panel's sums, from the same `quote()` as the server's (G1). */
export function priceLines({ gpus, hours, currency }: Pick<Draft, "gpus" | "hours" | "currency">): PriceLines {
  const sold = prices();
  const totals = sold.currencies.map(({ code }) => ({
    currency: code,
    text: money(quote(sold, gpus, hours, code).amountMinor, code),
  }));
  const others = totals.filter((total) => total.currency !== currency);
  const { amountMinor } = quote(sold, gpus, hours, currency);
  const rate = planOf(hours) === "monthly" ? `${totals[0]?.text} per month` : `${hourly(gpus)} per hour`;
  return {
    ...{ totals, rate, amountMinor },
    charged: money(amountMinor, currency),
    other: others.map(({ text }) => text).join(", "),
  };
}

export function hourly(gpus: number): string {
  return money(quote(prices(), gpus, 1, "USD").amountMinor, "USD");
}

/** The price in a cell of the duration choice, without zero cents. */
export function totalShort(gpus: number, hours: number): string {
  return moneyShort(quote(prices(), gpus, hours, "USD").amountMinor, "USD");
}

/** The printed percentage, stored and never computed (G3); empty if none is printed (G2). */
export function printedLabel(gpus: number, plan: "hourly" | "monthly"): string {
  const row = prices().rows.find((candidate) => candidate.gpus === gpus);
  return (plan === "hourly" ? row?.hourlyLabel : row?.monthlyLabel) ?? "";
}

/**
 * Changes that reach the provider's minimum charge; undefined if the draft already does (G73).
 * @param minimumMinor minimum charge per currency, in minor units, from `GET /config`
 */
export function minimumOptions(
  draft: Draft,
  minimumMinor: Readonly<Record<string, number>>,
  currencies: readonly string[],
): readonly Partial<Draft>[] | undefined {
  return minimumChanges(prices(), draft, minimumMinor)?.filter(({ currency = draft.currency }) =>
    currencies.includes(currency),
  );
}

/** "6 hours", "4 GPUs", "Pay in INR". */
export function changeLabel({ gpus, hours, currency }: Partial<Draft>, unit: UnitWords): string {
  if (hours !== undefined) return durationLabel(hours);
  return gpus === undefined ? `Pay in ${currency}` : plural(gpus, unit.one);
}
