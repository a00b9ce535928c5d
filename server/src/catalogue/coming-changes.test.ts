import { type Catalogue, defaultCatalogue } from "@berth/contract";
import { expect, test } from "vitest";
import { comingChanges } from "./coming-changes.ts";
import { changedCatalogue } from "./testing/changed-catalogue.ts";

const now = new Date("2027-01-01T06:00:00Z");
const wordsOf = (catalogue: Catalogue) => comingChanges(catalogue, now).map(({ title, body }) => `${title}: ${body}`);

test("a coming raise says what costs how much from which day, and what it costs now", () => {
  const catalogue = changedCatalogue("2027-02-01", ({ rows, currencies }) => {
    Object.assign(rows[0] ?? {}, { hourly: 0.25, monthly: 160 });
    Object.assign(rows[1] ?? {}, { hourly: 0.35 });
    Object.assign(currencies[1] ?? {}, { rate: 90.5 });
  });
  expect(wordsOf(catalogue)).toEqual([
    "Prices change on February 1, 2027: From February 1, 2027, 00:00 UTC: 1 GPU $0.25 an hour (now $0.20), $160.00 a month (now $150.00); 2 GPUs $0.35 an hour (now $0.40); a dollar is ₹90.50 (now ₹88.22). What you order before then keeps its price, and nothing that you have paid for changes.",
  ]);
});

test("each version is compared with the one before it; what has begun, and a lower price, is no notice", () => {
  const lower = changedCatalogue("2027-02-01", ({ rows }) => Object.assign(rows[0] ?? {}, { hourly: 0.1 }));
  expect(wordsOf(lower)).toEqual([]);
  const back = { ...lower, prices: [...lower.prices, { ...defaultCatalogue.prices[0], from: "2027-03-01" }] };
  expect(wordsOf(back as Catalogue)).toEqual([
    expect.stringContaining("From March 1, 2027, 00:00 UTC: 1 GPU $0.20 an hour (now $0.10)."),
  ]);
  expect(wordsOf(changedCatalogue("2027-01-01", ({ rows }) => Object.assign(rows[0] ?? {}, { hourly: 9 })))).toEqual(
    [],
  );
});

test("a change of the terms says its summary; the same words have the same id, others another one", () => {
  const terms = (summary: string) => ({ ...defaultCatalogue, terms: [{ from: "2027-02-01", summary }] });
  expect(wordsOf(terms("Sessions last 100 hours"))).toEqual([
    "The terms change on February 1, 2027: From February 1, 2027, 00:00 UTC: Sessions last 100 hours. It applies to rentals that start after that day; what you have paid for keeps the terms it was bought under.",
  ]);
  const idOf = (summary: string) => comingChanges(terms(summary), now)[0]?.id;
  expect(idOf("A.")).toMatch(/^terms:2027-02-01:[\w-]{12}$/);
  expect([idOf("A."), idOf("A.") === idOf("B.")]).toEqual([idOf("A."), false]);
});
