import { type Currency, type DurationHours, type GpuCount, planOf, priceTable, quote } from "@berth/contract";
import { money, moneyShort } from "../../format.ts";
import type { Draft } from "./draft.ts";

export interface PriceLines {
  readonly usd: string;
  readonly inr: string;
  /** The amount charged; `other` is the same in the other currency. */
  readonly charged: string;
  readonly other: string;
  readonly rate: string;
  readonly amountMinor: number;
}

/** The order panel's sums, from the same `quote()` as the server's (G1). */
export function priceLines({ gpus, hours, currency }: Pick<Draft, "gpus" | "hours" | "currency">): PriceLines {
  const usd = money(quote(gpus, hours, "USD").amountMinor, "USD");
  const inr = money(quote(gpus, hours, "INR").amountMinor, "INR");
  const [charged, other] = currency === "USD" ? [usd, inr] : [inr, usd];
  const rate = planOf(hours) === "monthly" ? `${usd} per month` : `${hourly(gpus)} per hour`;
  return { usd, inr, charged, other, rate, amountMinor: quote(gpus, hours, currency).amountMinor };
}

export function hourly(gpus: GpuCount): string {
  return money(quote(gpus, 1, "USD").amountMinor, "USD");
}

/** The price in a cell of the duration choice, without zero cents. */
export function totalShort(gpus: GpuCount, hours: DurationHours): string {
  return moneyShort(quote(gpus, hours, "USD").amountMinor, "USD");
}

/** The printed percentage, stored and never computed (G3); empty if none is printed (G2). */
export function printedLabel(gpus: GpuCount, plan: "hourly" | "monthly"): string {
  const row = priceTable.find((candidate) => candidate.gpus === gpus);
  return (plan === "hourly" ? row?.hourlyLabel : row?.monthlyLabel) ?? "";
}

export interface MinimumOption {
  readonly label: string;
  readonly change: Partial<Draft>;
}

/**
 * Changes that reach the provider's minimum charge; undefined if the draft already does (G73).
 * @param minimumMinor minimum charge per currency, in minor units, from `GET /config`
 */
export function minimumOptions(
  draft: Draft,
  minimumMinor: Readonly<Record<Currency, number>>,
  currencies: readonly Currency[],
): readonly MinimumOption[] | undefined {
  const reaches = (part: Partial<Draft>) => {
    const { gpus, hours, currency } = { ...draft, ...part };
    return quote(gpus, hours, currency).amountMinor >= minimumMinor[currency];
  };
  if (reaches({})) return undefined;
  const options: MinimumOption[] = [
    { label: "6 hours", change: { hours: 6 } },
    { label: "4 GPUs", change: { gpus: 4 } },
    { label: "Pay in INR", change: { currency: "INR" } },
  ];
  return options.filter(({ change }) => reaches(change) && currencies.includes(change.currency ?? draft.currency));
}
