import { plural } from "../plural.ts";
import type { Catalogue } from "./catalogue.ts";
import type { CatalogueProblem } from "./catalogue-problems.ts";
import { type PriceRaise, priceRaises } from "./price-raises.ts";
import { type Prices, pricesAt } from "./prices.ts";
import { planOf } from "./pricing.ts";

/** The terms promise it: a raise or a change of terms is announced so many days before it begins. */
export const noticeDays = 30;

const dayMs = 86_400_000;

/** What customers were shown. */
export type ShownCatalogue = Pick<Catalogue, "prices" | "terms">;

/**
 * Where a catalogue breaks the notice of 30 days: prices above those that were shown for the same day, and changes of the
 * terms that were not shown, both before the notice is over (G150). `shown` is the catalogue of the start before.
 */
export function noticeProblems(shown: ShownCatalogue, next: ShownCatalogue, now: Date): CatalogueProblem[] {
  const earliest = dayOf(Math.ceil(now.getTime() / dayMs + noticeDays) * dayMs);
  const today = dayOf(now.getTime());
  const begins = [...shown.prices, ...next.prices].map(({ from }) => from);
  const days = [today, ...begins.filter((from) => from > today && from < earliest)];
  const raises = [...new Set(days)].toSorted().flatMap((day) => raisesOn(day, shown, next, earliest));
  return [...firstOfEach(raises), ...termsProblems(shown, next, earliest)];
}

function raisesOn(day: string, shown: ShownCatalogue, next: ShownCatalogue, earliest: string): CatalogueProblem[] {
  const at = new Date(`${day}T00:00:00Z`);
  const [before, after] = [pricesAt(shown, at), pricesAt(next, at)];
  const index = next.prices.findIndex(({ from }) => from === after.from);
  return priceRaises(before, after).map((raise) => ({
    path: ["prices", index, ...fieldOf(raise, before, after)],
    message: `raises ${described(raise)}, which customers were not shown 30 days before: a raise begins on ${earliest} or later, in a version of its own`,
  }));
}

/** The field that makes the raise: the price in dollars, else the rate, else the rounding. */
function fieldOf({ gpus, hours, currency }: PriceRaise, before: Prices, after: Prices): (string | number)[] {
  const plan = planOf(hours);
  const cents = ({ rows }: Prices) => rows.find((row) => row.gpus === gpus)?.[`${plan}Cents`] ?? 0;
  const row = after.rows.findIndex((each) => each.gpus === gpus);
  if (cents(after) > cents(before)) return ["rows", row, plan];
  const rate = ({ currencies }: Prices) => currencies.find(({ code }) => code === currency)?.ratePerDollar ?? 0;
  const terms = after.currencies.findIndex(({ code }) => code === currency);
  return ["currencies", terms, rate(after) > rate(before) ? "rate" : "roundTo"];
}

function described({ gpus, hours, currency, beforeMinor, afterMinor }: PriceRaise): string {
  const sum = (minor: number) => (minor / 100).toFixed(2);
  return `${plural(gpus, "GPU")} for ${plural(hours, "hour")} from ${sum(beforeMinor)} to ${sum(afterMinor)} ${currency}`;
}

/** One raise of each field. */
function firstOfEach(problems: readonly CatalogueProblem[]): CatalogueProblem[] {
  return [...new Map(problems.toReversed().map((problem) => [problem.path.join("."), problem])).values()].toReversed();
}

function termsProblems(shown: ShownCatalogue, next: ShownCatalogue, earliest: string): CatalogueProblem[] {
  const wasShown = (from: string, summary: string) =>
    (shown.terms ?? []).some((entry) => entry.from === from && entry.summary === summary);
  return (next.terms ?? []).flatMap(({ from, summary }, index) =>
    from >= earliest || wasShown(from, summary)
      ? []
      : [
          {
            path: ["terms", index, "from"],
            message: `is less than 30 days ahead: a change of the terms begins on ${earliest} or later`,
          },
        ],
  );
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
