import { expect, test } from "vitest";
import { defaultPrices } from "./default-catalogue.ts";
import { chargedMinor, major, minorOf, quote as quoteOf } from "./pricing.ts";

const { rows, hours: durationHours } = defaultPrices;
const gpuCounts = rows.map(({ gpus }) => gpus);
const currencies = defaultPrices.currencies.map(({ code }) => code);
const quote = (gpus: number, hours: number, currency: string) => quoteOf(defaultPrices, gpus, hours, currency);
const inrMinor = (usdMinor: number) => chargedMinor(usdMinor, { ratePerDollar: 8822, roundMinor: 100 });

/** Every price there is, in US cents: rows are GPU counts, columns 1, 6, 12, 24, 48, 72, 168 and 720 hours (G1-G4). */
const cents: Readonly<Record<number, readonly number[]>> = {
  1: [20, 120, 240, 480, 960, 1440, 3360, 15000],
  2: [40, 240, 480, 960, 1920, 2880, 6720, 28000],
  4: [75, 450, 900, 1800, 3600, 5400, 12600, 52000],
  6: [105, 630, 1260, 2520, 5040, 7560, 17640, 75000],
  8: [160, 960, 1920, 3840, 7680, 11520, 26880, 120000],
};

test("the price table matches the specification", () => {
  const prices = gpuCounts.map((gpus) => [gpus, durationHours.map((hours) => quote(gpus, hours, "USD").usdMinor)]);
  expect(Object.fromEntries(prices)).toEqual(cents);
  expect(rows.map(({ hourlyLabel, monthlyLabel }) => [hourlyLabel, monthlyLabel])).toEqual([
    ["", ""],
    ["", "7% off"],
    ["6.25% discount", "13% off"],
    ["12.5% discount", "16% off"],
    ["Premium, no discount", ""],
  ]);
});

test("C8 all 40 prices in both currencies are whole minor units, and rupees are G8's round(usd * 88.22)", () => {
  let seen = 0;
  for (const gpus of gpuCounts)
    for (const hours of durationHours)
      for (const currency of currencies) {
        const { usdMinor, amountMinor } = quote(gpus, hours, currency);
        expect(Number.isSafeInteger(amountMinor)).toBe(true);
        if (currency === "INR") expect(amountMinor).toBe(Math.round((usdMinor / 100) * 88.22) * 100);
        else expect(amountMinor).toBe(usdMinor);
        expect(minorOf(major(amountMinor))).toBe(amountMinor);
        seen++;
      }
  expect(seen).toBe(80);
  expect(quote(1, 1, "INR").amountMinor).toBe(1800);
});

test("eight GPUs cost more than four twice, and a month of one GPU more than its hours (G2, G4)", () => {
  expect(quote(8, 1, "USD").usdMinor).toBeGreaterThan(2 * quote(4, 1, "USD").usdMinor);
  expect(quote(1, 720, "USD").usdMinor).toBe(15000);
  expect(20 * 720).toBeLessThan(15000);
});

test("rupees round once, half up", () => {
  expect(inrMinor(1)).toBe(100);
  expect(inrMinor(0)).toBe(0);
  expect(inrMinor(100)).toBe(8800);
  expect(inrMinor(50)).toBe(4400);
});

test("a major amount that is not a whole number of minor units is undefined", () => {
  expect(minorOf(0.4)).toBe(40);
  expect(minorOf(1058.64)).toBe(105864);
  for (const amount of [0.401, 0.1 + 0.2, Number.NaN, Number.POSITIVE_INFINITY, 1e300])
    expect(minorOf(amount)).toBe(undefined);
});

test("a count outside the table has no price, and extreme amounts are undefined", () => {
  expect(() => quote(3, 1, "USD")).toThrow("no price for 3 GPUs");
  expect(minorOf(-0.4)).toBe(-40);
  expect(minorOf(0)).toBe(0);
  expect(minorOf(Number.MAX_SAFE_INTEGER)).toBeUndefined();
  expect(minorOf(0.005)).toBeUndefined();
});
