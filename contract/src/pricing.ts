/** Spec 9.1. Money is integer minor units: US cents, Indian paise. */
export const gpuCounts = [1, 2, 4, 6, 8] as const;
export const durationHours = [1, 6, 12, 24, 48, 72, 168, 720] as const;
export const currencies = ["USD", "INR"] as const;

export type GpuCount = (typeof gpuCounts)[number];
export type DurationHours = (typeof durationHours)[number];
export type Currency = (typeof currencies)[number];

export const hoursPerMonth = 720;
export const maxGpus = 8;

/** 88.22, in hundredths of a rupee for one dollar (spec 9.1). */
export const inrPaisePerUsd = 8822;

interface PriceRow {
  readonly gpus: GpuCount;
  readonly hourlyCents: number;
  /** Printed as given, never recomputed (G3): the discount against so many single GPUs. */
  readonly hourlyLabel: string;
  readonly monthlyCents: number;
  readonly monthlyLabel: string;
}

/** The whole price table. Four GPUs twice is cheaper than eight at once, on purpose (G4). */
export const priceTable: readonly PriceRow[] = [
  { gpus: 1, hourlyCents: 20, hourlyLabel: "", monthlyCents: 15000, monthlyLabel: "" },
  { gpus: 2, hourlyCents: 40, hourlyLabel: "", monthlyCents: 28000, monthlyLabel: "7% off" },
  { gpus: 4, hourlyCents: 75, hourlyLabel: "6.25% discount", monthlyCents: 52000, monthlyLabel: "13% off" },
  { gpus: 6, hourlyCents: 105, hourlyLabel: "12.5% discount", monthlyCents: 75000, monthlyLabel: "16% off" },
  { gpus: 8, hourlyCents: 160, hourlyLabel: "Premium, no discount", monthlyCents: 120000, monthlyLabel: "" },
];

export interface Quote {
  /** List price in US cents: what billing shows (G7). */
  readonly usdMinor: number;
  /** What the card is charged, in minor units of `currency`. */
  readonly amountMinor: number;
  readonly currency: Currency;
}

export type Plan = "hourly" | "monthly";

export function planOf(hours: number): Plan {
  return hours === hoursPerMonth ? "monthly" : "hourly";
}

/** The price that the app shows and the server charges: hours times the hourly price, or the monthly one (G1, G5, G8). */
export function quote(gpus: GpuCount, hours: DurationHours, currency: Currency): Quote {
  const row = priceTable.find((candidate) => candidate.gpus === gpus);
  if (!row) throw new Error(`no price for ${gpus} GPUs`);
  const usdMinor = hours === hoursPerMonth ? row.monthlyCents : row.hourlyCents * hours;
  return { usdMinor, amountMinor: currency === "USD" ? usdMinor : inrMinor(usdMinor), currency };
}

/** Whole rupees, rounded once on the final total (G8). */
export function inrMinor(usdMinor: number): number {
  return Math.floor((usdMinor * inrPaisePerUsd + 5000) / 10000) * 100;
}

/** Minor to major units (G9): 40 cents are 0.4, the nearest double. */
export function major(minor: number): number {
  return minor / 100;
}

/** Major to minor units; undefined if the result is not an integer. */
export function minorOf(amount: number): number | undefined {
  const minor = Math.round(amount * 100);
  return Number.isSafeInteger(minor) && minor / 100 === amount ? minor : undefined;
}
