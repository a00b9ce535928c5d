import { type Catalogue, defaultCatalogue, type PriceVersion } from "@berth/contract";

/** The built-in catalogue with a second version of its prices from a day on. */
export function changedCatalogue(from: string, change: (version: PriceVersion) => void): Catalogue {
  const first = defaultCatalogue.prices[0] as PriceVersion;
  const version: PriceVersion = { ...structuredClone(first), from };
  change(version);
  return { ...defaultCatalogue, prices: [first, version] };
}

/** The UTC day so many days from now, "2027-01-31". */
export function dayIn(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}
