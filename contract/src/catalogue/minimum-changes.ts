import type { Prices } from "./prices.ts";
import { quote } from "./pricing.ts";

interface Choice {
  readonly gpus: number;
  readonly hours: number;
  readonly currency: string;
}

/** One change that reaches the minimum. */
export type MinimumChange = Partial<Choice>;

/**
 * Changes that reach the provider's minimum charge: more hours, more GPUs, another currency; undefined if the choice already
 * does (G73). `minimumMinor` has the currencies whose minimum is known, in minor units.
 */
export function minimumChanges(
  prices: Prices,
  choice: Choice,
  minimumMinor: Readonly<Record<string, number>>,
): readonly MinimumChange[] | undefined {
  const reaches = (change: MinimumChange) => {
    const { gpus, hours, currency } = { ...choice, ...change };
    return quote(prices, gpus, hours, currency).amountMinor >= (minimumMinor[currency] ?? 0);
  };
  if (reaches({})) return undefined;
  const changes: readonly (readonly MinimumChange[])[] = [
    ascending(prices.hours, choice.hours).map((hours) => ({ hours })),
    ascending(
      prices.rows.map((row) => row.gpus),
      choice.gpus,
    ).map((gpus) => ({ gpus })),
    prices.currencies.map(({ code: currency }) => ({ currency })),
  ];
  return changes.flatMap((kind) => kind.find(reaches) ?? []);
}

function ascending(values: readonly number[], above: number): number[] {
  return values.filter((value) => value > above).sort((a, b) => a - b);
}
