import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defaultPrices, quote } from "@berth/contract";
import { expect, test } from "vitest";
import { prorate } from "./usage-of-order.ts";

const page = readFileSync(fileURLToPath(new URL("../../../../docs/use/refunds.md", import.meta.url)), "utf8");
const rows = [...page.matchAll(/^\| ([\d.]+) (USD|INR) \| (\d+) h \| (\d+) h(?: (\d+) min)? \| (.+) \|$/gm)].map(
  ([, paid, currency = "", hours, usedHours, usedMinutes = "0", back = ""]) => ({
    paidMinor: Math.round(Number(paid) * 100),
    currency,
    hours: Number(hours),
    usedSeconds: (Number(usedHours) * 60 + Number(usedMinutes)) * 60,
    back,
  }),
);

test.each(rows)("the example of $paidMinor $currency for $hours h gives $back", (row) => {
  const { paidMinor, currency, hours, usedSeconds, back } = row;
  expect(quote(defaultPrices, 1, hours, currency).amountMinor).toBe(paidMinor);
  const totalSeconds = hours * 3600;
  const minor = prorate(paidMinor, { totalSeconds, unusedSeconds: totalSeconds - usedSeconds });
  const stated = /: nothing$/.test(back) ? 0 : Math.round(Number(/= ([\d.]+) (?:USD|INR)$/.exec(back)?.[1]) * 100);
  expect(stated).toBe(minor);
});

test("the page has examples in both currencies", () => {
  expect(new Set(rows.map(({ currency }) => currency))).toEqual(new Set(["USD", "INR"]));
});
