import { expect, test } from "vitest";
import { safeParse } from "zod/mini";
import { type Catalogue, catalogueShape } from "./catalogue.ts";
import { catalogueProblems } from "./catalogue-problems.ts";
import { defaultCatalogue } from "./default-catalogue.ts";
import { durationLabel } from "./duration-label.ts";
import { notOffered } from "./not-offered.ts";
import { comingPrices, pricesAt } from "./prices.ts";

const copy = (): Catalogue => JSON.parse(JSON.stringify(defaultCatalogue));
const version = (change: Partial<Catalogue["prices"][number]>) => {
  const made = copy();
  made.prices = [{ ...(made.prices[0] as Catalogue["prices"][number]), ...change }];
  return made;
};

test("the default is a catalogue without problems", () => {
  expect(safeParse(catalogueShape, defaultCatalogue).success).toBe(true);
  expect(catalogueProblems(defaultCatalogue)).toEqual([]);
});

test("parts that do not fit together are named with their place", () => {
  const twice = {
    ...copy(),
    types: [...defaultCatalogue.types, { ...defaultCatalogue.types[0], name: "Again" }] as Catalogue["types"],
  };
  const first = defaultCatalogue.prices[0] as Catalogue["prices"][number];
  const [row] = first.rows;
  const usd = { code: "USD", rate: 1, roundTo: 0.01 };
  const cases: readonly (readonly [Catalogue, string])[] = [
    [twice, "types.3.id repeats jupyter"],
    [version({ rows: [row, row] as typeof first.rows }), "prices.0.rows.1.gpus repeats 1"],
    [version({ rows: [{ gpus: 1, hourly: 0.205, monthly: 1 }] }), "prices.0.rows.0.hourly has more than two decimals"],
    [
      version({ rows: [{ gpus: 1, hourly: 0.2 }] }),
      "prices.0.rows.0 has no monthly price, though 720 hours are offered",
    ],
    [version({ hours: [1, 6, 1] }), "prices.0.hours.2 repeats 1"],
    [
      version({ currencies: [{ ...usd, rate: 2 }] }),
      "prices.0.currencies.0 is not USD at a rate of 1, in which prices are listed",
    ],
    [
      version({ currencies: [usd, { code: "JPY", rate: 150, roundTo: 1 }] }),
      "prices.0.currencies.1.code is JPY, which is unknown or has no hundredths",
    ],
    [
      version({ currencies: [usd, { code: "XQX", rate: 1, roundTo: 1 }] }),
      "prices.0.currencies.1.code is XQX, which is unknown or has no hundredths",
    ],
    [version({ from: "2026-02-30" }), "prices.0.from is not a day: 2026-02-30"],
    [{ ...copy(), prices: [first, first] }, "prices.1.from is not after 2026-01-01"],
  ];
  for (const [bad, problem] of cases)
    expect(catalogueProblems(bad).map(({ path, message }) => `${path.join(".")} ${message}`)).toEqual([problem]);
});

test("a version begins at 00:00 UTC of its day, and is announced until then", () => {
  const rows = [{ gpus: 1, hourly: 0.3, monthly: 200 }];
  const first = defaultCatalogue.prices[0] as Catalogue["prices"][number];
  const sold = { ...copy(), prices: [first, { ...first, from: "2027-02-01", rows }] };
  const before = new Date("2027-01-31T23:59:59Z");
  const after = new Date("2027-02-01T00:00:00Z");
  expect([pricesAt(sold, before).rows[0]?.hourlyCents, pricesAt(sold, after).rows[0]?.hourlyCents]).toEqual([20, 30]);
  expect(comingPrices(sold, before).map(({ from }) => from)).toEqual(["2027-02-01"]);
  expect(comingPrices(sold, after)).toEqual([]);
  expect(pricesAt(sold, new Date("2025-01-01T00:00:00Z")).from).toBe("2026-01-01");
});

test("what is not sold is named by its field", () => {
  const prices = pricesAt(defaultCatalogue, new Date());
  const wanted = { container_type: "jupyter", gpu_count: 2, duration: 6, currency: "INR" };
  expect(notOffered(defaultCatalogue, prices, wanted)).toBeUndefined();
  for (const change of [{ container_type: "julia" }, { gpu_count: 3 }, { duration: 2 }, { currency: "EUR" }])
    expect(notOffered(defaultCatalogue, prices, { ...wanted, ...change })).toBe(Object.keys(change)[0]);
});

test("durations are named as the specification names them", () => {
  expect([1, 6, 72, 168, 336, 720].map(durationLabel)).toEqual([
    ...["1 hour", "6 hours", "72 hours", "1 week", "2 weeks", "1 month"],
  ]);
});
