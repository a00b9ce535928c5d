import { expect, test } from "vitest";
import type { Catalogue } from "./catalogue.ts";
import { defaultCatalogue } from "./default-catalogue.ts";
import { noticeProblems } from "./notice-problems.ts";

type Version = Catalogue["prices"][number];
const first = defaultCatalogue.prices[0] as Version;
/** The earliest day is 2027-02-01: on 2027-01-31 the notice is six hours short. */
const now = new Date("2027-01-01T06:00:00Z");
const known = { prices: [first] };

function version(from: string, change: (copy: Version) => void = () => {}): Version {
  const copy: Version = { ...JSON.parse(JSON.stringify(first)), from };
  change(copy);
  return copy;
}
const raised = (from: string) => version(from, ({ rows }) => Object.assign(rows[0] ?? {}, { hourly: 0.3 }));
const lower = (from: string) => version(from, ({ rows }) => Object.assign(rows[0] ?? {}, { hourly: 0.1 }));
const problems = (shown: typeof known, prices: Version[], terms?: Catalogue["terms"]) =>
  noticeProblems(shown, { prices, terms }, now).map(({ path, message }) => `${path.join(".")} ${message}`);
const late =
  "which customers were not shown 30 days before: a raise begins on 2027-02-01 or later, in a version of its own";

test("what was shown before, and a lower price on any day, is no problem", () => {
  expect(problems(known, [first])).toEqual([]);
  expect(problems(known, [lower("2026-01-01")])).toEqual([]);
  expect(problems(known, [first, lower("2027-01-02")])).toEqual([]);
  expect(problems({ prices: [first, raised("2027-01-05")] }, [first, raised("2027-01-05")])).toEqual([]);
});

test("a raise needs a day that is 30 days ahead, to the second", () => {
  const raise = `prices.1.rows.0.hourly raises 1 GPU for 1 hour from 0.20 to 0.30 USD, ${late}`;
  expect(problems(known, [first, raised("2027-02-01")])).toEqual([]);
  expect(problems(known, [first, raised("2027-01-31")])).toEqual([raise]);
  expect(problems(known, [first, raised("2027-01-02")])).toEqual([raise]);
  expect(problems(known, [raised("2026-01-01")])).toEqual([raise.replace("prices.1", "prices.0")]);
});

test("bringing an announced raise forward, and taking back a lower price, is a raise", () => {
  const announced = { prices: [first, raised("2027-01-20")] };
  expect(problems(announced, [first, raised("2027-01-10")])).toHaveLength(1);
  expect(problems(announced, [first, raised("2027-01-25")])).toEqual([]);
  expect(problems({ prices: [lower("2026-01-01")] }, [first])).toEqual([
    `prices.0.rows.0.hourly raises 1 GPU for 1 hour from 0.10 to 0.20 USD, ${late}`,
  ]);
  const cheap = { prices: [first, lower("2027-01-10")] };
  expect(problems(cheap, [first])).toEqual([
    `prices.0.rows.0.hourly raises 1 GPU for 1 hour from 0.10 to 0.20 USD, ${late}`,
  ]);
});

test("the field that makes the raise is named: monthly price, rate or rounding; other hours hide nothing", () => {
  const fields = (change: (copy: Version) => void) =>
    problems(known, [version("2026-01-01", change)]).map((problem) => problem.split(" ")[0]);
  expect(fields(({ rows }) => Object.assign(rows[1] ?? {}, { monthly: 281 }))).toEqual(["prices.0.rows.1.monthly"]);
  expect(fields(({ currencies }) => Object.assign(currencies[1] ?? {}, { rate: 95 }))).toEqual([
    "prices.0.currencies.1.rate",
  ]);
  expect(fields(({ currencies }) => Object.assign(currencies[1] ?? {}, { roundTo: 30 }))).toEqual([
    "prices.0.currencies.1.roundTo",
  ]);
  const others = (copy: Version) => {
    copy.hours = [5];
    Object.assign(copy.rows[0] ?? {}, { hourly: 0.25 });
  };
  expect(fields(others)).toEqual(["prices.0.rows.0.hourly"]);
  const noMonth = { prices: [{ ...version("2026-01-01"), hours: [1] }] };
  expect(problems(noMonth, [first])).toEqual([]);
});

test("a change of the terms needs 30 days too, unless the same words were shown", () => {
  const terms = [{ from: "2027-01-31", summary: "Shorter sessions." }];
  const problem = "terms.0.from is less than 30 days ahead: a change of the terms begins on 2027-02-01 or later";
  expect(problems(known, [first], terms)).toEqual([problem]);
  expect(problems({ ...known, terms } as typeof known, [first], terms)).toEqual([]);
  expect(problems({ ...known, terms } as typeof known, [first], [{ from: "2027-01-31", summary: "Other." }])).toEqual([
    problem,
  ]);
  expect(problems(known, [first], [{ from: "2027-02-01", summary: "Shorter sessions." }])).toEqual([]);
});
