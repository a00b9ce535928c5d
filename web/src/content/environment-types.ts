import { defaultCatalogue, durationLabel, hoursPerMonth } from "@berth/contract";
import { catalogue, prices } from "../catalogue.ts";
import { listed, money } from "../format.ts";

export const environmentTypes: readonly {
  value: string;
  name: string;
  blurb: string;
  packages: readonly string[];
}[] = catalogue.types.map(({ id, name, about, packages }) => ({ value: id, name, blurb: about, packages }));

/** "JupyterLab, PyTorch or TensorFlow". */
export const typeList = listed(
  environmentTypes.map(({ name }) => name),
  "disjunction",
);

/** "$0.20". */
export const lowestHourlyPrice = money(Math.min(...prices().rows.map(({ hourlyCents }) => hourlyCents)), "USD");

/** Also of a type that is no longer sold, for the environments and orders that keep it. */
export function typeName(value: string): string {
  const known = [...catalogue.types, ...defaultCatalogue.types].find(({ id }) => id === value);
  return known?.name ?? value;
}

/** Spec 9.1. */
export function durations(): readonly { readonly hours: number; readonly label: string }[] {
  return prices().hours.map((hours) => ({ hours, label: durationLabel(hours) }));
}

export function isMonthlySold(): boolean {
  return prices().hours.includes(hoursPerMonth);
}

/** "USD or INR". */
/** What the payment provider takes in this currency (G365). */
export function methodList(currency: string): string {
  return currency === "INR" ? "UPI, card, netbanking or wallet" : "card";
}

/** What it takes in any currency that is sold, in two words. */
export function methodsInShort(): string {
  return prices().currencies.some(({ code }) => code === "INR") ? "card or UPI" : "card";
}

export function currencyList(): string {
  return listed(
    prices().currencies.map(({ code }) => code),
    "disjunction",
  );
}
