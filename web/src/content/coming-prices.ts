import type { Prices } from "@berth/contract";
import { plural } from "@berth/contract";
import { announcedPrices, prices } from "../catalogue.ts";
import { longDay, money, moneyShort, rateText } from "../format.ts";

/** A sentence for each announced version of the prices (G152): "From January 31, 2027 the prices are: ...". */
export function comingPriceTexts(): readonly string[] {
  return announcedPrices().map((version) => {
    const rows = version.rows.map(({ gpus, hourlyCents, monthlyCents }) => {
      const monthly = monthlyCents === null ? "" : ` or ${moneyShort(monthlyCents, "USD")} a month`;
      return `${plural(gpus, "GPU")} ${money(hourlyCents, "USD")} an hour${monthly}`;
    });
    const rates = version.currencies
      .slice(1)
      .map(({ code, ratePerDollar }) => `${code} at ${rateText(ratePerDollar / 100, code)} for a dollar`);
    return `From ${longDay(version.from)} the prices are: ${[...rows, ...rates].join("; ")}. What you order before that day keeps its price.`;
  });
}

/** "INR at ₹90.50 for a dollar, now ₹88.22." of the currencies whose rate changes; empty: none. */
export function changedRates({ currencies }: Prices): string {
  const before = prices().currencies;
  return currencies
    .flatMap(({ code, ratePerDollar }) => {
      const old = before.find((each) => each.code === code)?.ratePerDollar;
      if (old === undefined || old === ratePerDollar) return [];
      return [`${code} at ${rateText(ratePerDollar / 100, code)} for a dollar, now ${rateText(old / 100, code)}.`];
    })
    .join(" ");
}
