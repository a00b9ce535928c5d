import {
  array,
  type infer as Infer,
  int,
  maximum,
  maxLength,
  minimum,
  minLength,
  number,
  optional,
  positive,
  regex,
  strictObject,
  string,
} from "zod/mini";

const text = (max: number) =>
  string().check(minLength(1, "is empty"), maxLength(max, `is longer than ${max} characters`));
const label = string().check(maxLength(40, "is longer than 40 characters"));
const whole = (from: number, to: number) =>
  int("is not a whole number").check(minimum(from, `is below ${from}`), maximum(to, `is above ${to}`));
const day = string().check(regex(/^\d{4}-\d{2}-\d{2}$/, 'is not a day such as "2027-01-31"'));
const name = string().check(
  regex(/^[a-z0-9][a-z0-9-]{0,30}$/, "is not 1 to 31 lower-case letters, digits and hyphens"),
);
const price = number("is not a number").check(positive("is not above 0"));

const containerTypeEntry = strictObject({
  /** In requests and addresses of the API. Never changes, because orders and environments keep it. */
  id: name,
  name: text(40),
  /** In the payment dialog, where it is followed by "environment"; by default the name. */
  short: optional(text(40)),
  about: text(160),
  packages: array(text(40)),
  /** The prepared runtime or image that it runs; by default its id. */
  recipe: optional(name),
});

const priceRow = strictObject({
  gpus: whole(1, 64),
  /** List price of one hour of all its GPUs, in dollars. */
  hourly: price,
  /** Printed as given, never recomputed (G3). */
  hourlyLabel: optional(label),
  /** List price of 720 hours; needed where they are offered. */
  monthly: optional(price),
  monthlyLabel: optional(label),
});

const currencyTerms = strictObject({
  code: string().check(regex(/^[A-Z]{3}$/, 'is not a currency code such as "USD"')),
  /** Units for one dollar. */
  rate: price,
  /** The charged total is a multiple of it, in units: 1 gives whole rupees (G8). */
  roundTo: price,
});

/** What is sold from a day on, and for how much. */
const priceVersion = strictObject({
  /** 00:00 UTC of this day. */
  from: day,
  rows: array(priceRow).check(minLength(1, "is empty")),
  /** Durations offered. 720 is the monthly plan (G1). */
  hours: array(whole(1, 720)).check(minLength(1, "is empty")),
  /** The first is USD, in which prices are listed (G7). */
  currencies: array(currencyTerms).check(minLength(1, "is empty")),
});

/**
 * What an operator sells: the file of CATALOGUE, and a part of `GET /config`. Amounts are in major units (G9); `pricesAt`
 * gives them in minor ones. What its parts demand of each other is in catalogueProblems.
 */
export const catalogueShape = strictObject({
  types: array(containerTypeEntry).check(minLength(1, "is empty")),
  /** Named on pages until a host reports its own (G37). */
  gpus: array(strictObject({ model: text(60), memoryGb: whole(1, 1024) })).check(minLength(1, "is empty")),
  /** Oldest first. */
  prices: array(priceVersion).check(minLength(1, "is empty")),
  /** Announced changes of the terms, oldest first. */
  terms: optional(array(strictObject({ from: day, summary: text(600) }))),
  /** Per account; by default GPUS_PER_USER and LAUNCHES_PER_USER. */
  limits: optional(strictObject({ gpus: optional(whole(1, 4096)), launches: optional(whole(1, 1000)) })),
});

export type Catalogue = Infer<typeof catalogueShape>;
export type PriceVersion = Infer<typeof priceVersion>;
export type GpuModel = Catalogue["gpus"][number];
export type CatalogueType = Infer<typeof containerTypeEntry>;
