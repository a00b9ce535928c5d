import type { Catalogue, PriceVersion } from "./catalogue.ts";
import { hoursPerMonth } from "./prices.ts";
import { recipes } from "./recipes.ts";

export interface CatalogueProblem {
  /** Keys and indexes from the root, such as ["prices", 0, "rows", 1, "hourly"]. */
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What the schema cannot see: the parts of a catalogue that do not fit together. */
export function catalogueProblems({ types, prices, terms = [] }: Catalogue): CatalogueProblem[] {
  return [
    ...repeated(["types"], types, "id"),
    ...repeated(["types"], types, "name"),
    ...types.flatMap(({ id, recipe = id }, index) =>
      recipes.includes(recipe)
        ? []
        : [{ path: ["types", index, "recipe"], message: `is ${recipe}, which is none of ${recipes.join(", ")}` }],
    ),
    ...prices.flatMap((version, index) => versionProblems(version, ["prices", index])),
    ...dayProblems("prices", prices),
    ...dayProblems("terms", terms),
  ];
}

function versionProblems({ rows, hours, currencies }: PriceVersion, path: readonly PropertyKey[]): CatalogueProblem[] {
  const isMonthly = hours.includes(hoursPerMonth);
  return [
    ...repeated([...path, "rows"], rows, "gpus"),
    ...rows.flatMap((row, index) => {
      const at = [...path, "rows", index];
      const missing = isMonthly && row.monthly === undefined;
      return [
        ...inHundredths([...at, "hourly"], row.hourly),
        ...inHundredths([...at, "monthly"], row.monthly ?? 1),
        ...(missing ? [{ path: at, message: `has no monthly price, though ${hoursPerMonth} hours are offered` }] : []),
      ];
    }),
    ...hours.flatMap((value, index) =>
      hours.indexOf(value) < index ? [{ path: [...path, "hours", index], message: `repeats ${value}` }] : [],
    ),
    ...repeated([...path, "currencies"], currencies, "code"),
    ...currencies.flatMap((terms, index) => currencyProblems(terms, index, [...path, "currencies", index])),
  ];
}

function currencyProblems(
  { code, rate, roundTo }: PriceVersion["currencies"][number],
  index: number,
  path: readonly PropertyKey[],
): CatalogueProblem[] {
  const isList = code === "USD" && rate === 1;
  return [
    ...(index === 0 && !isList ? [{ path, message: "is not USD at a rate of 1, in which prices are listed" }] : []),
    ...(digitsOf(code) === 2
      ? []
      : [{ path: [...path, "code"], message: `is ${code}, which is unknown or has no hundredths` }]),
    ...inHundredths([...path, "rate"], rate),
    ...inHundredths([...path, "roundTo"], roundTo),
  ];
}

/** Decimals of a currency by Unicode's tables. */
function digitsOf(code: string): number | undefined {
  const isKnown = Intl.supportedValuesOf("currency").includes(code);
  return isKnown
    ? new Intl.NumberFormat("en", { style: "currency", currency: code }).resolvedOptions().maximumFractionDigits
    : undefined;
}

function inHundredths(path: readonly PropertyKey[], amount: number): CatalogueProblem[] {
  const isExact = Number.isSafeInteger(Math.round(amount * 100)) && Math.round(amount * 100) / 100 === amount;
  return isExact ? [] : [{ path, message: "has more than two decimals" }];
}

function repeated<T, K extends keyof T>(
  path: readonly PropertyKey[],
  entries: readonly T[],
  key: K,
): CatalogueProblem[] {
  return entries.flatMap((entry, index) =>
    entries.findIndex((other) => other[key] === entry[key]) < index
      ? [{ path: [...path, index, key], message: `repeats ${String(entry[key])}` }]
      : [],
  );
}

/** Days exist and rise, so that one version is in force at a time. */
function dayProblems(name: string, entries: readonly { readonly from: string }[]): CatalogueProblem[] {
  return entries.flatMap(({ from }, index) => {
    const path = [name, index, "from"];
    const before = entries[index - 1];
    if (!isDay(from)) return [{ path, message: `is not a day: ${from}` }];
    return before && before.from >= from ? [{ path, message: `is not after ${before.from}` }] : [];
  });
}

function isDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}
