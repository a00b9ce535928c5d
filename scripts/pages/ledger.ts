import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Of rates and scores more is better, of everything else less. `x` is a ratio that was measured as such. */
export type Unit = "ms" | "us" | "MB" | "KiB" | "%" | "x" | "1/s" | "MB/s" | "points" | "";

/** What was measured last. A ratio is the median of paired ratios; bounds are those of its median, or of the value's without a peer. */
export interface Recorded {
  /** Median. Absent where only the ratio was written down. */
  readonly value?: number;
  /** Of at least 20 samples. */
  readonly p95?: number;
  /** Median of what it is measured beside. */
  readonly besideValue?: number;
  readonly ratio?: number;
  readonly low: number;
  readonly high: number;
  readonly samples: number;
  /** Whether other work took more than a tenth of the machine. */
  readonly busy: boolean;
  /** What a fixed piece of work took then: the machine's pace, which differs threefold from day to day where it is rented. */
  readonly paceMs?: number;
  readonly commit: string;
  readonly date: string;
  readonly machine: string;
}

/** A figure, what is promised of it (written by hand), and what was measured last (written by `npm run bench -- NAME --accept`). */
export interface LedgerRow {
  readonly figure: string;
  readonly bench: string;
  readonly unit: Unit;
  /** A floor or a peer, measured in the same run. */
  readonly beside?: string;
  readonly goalRatio?: number;
  readonly goalValue?: number;
  readonly last?: Recorded;
}

/** In the order in which `npm run bench -- all` runs them. */
export const benchesOfAll = ["start", "launch", "launch-many", "reads", "gateway", "fleet", "lists"] as const;

export const ledgerPath = fileURLToPath(new URL("../../bench/ledger.json", import.meta.url));

export const readLedger = (): readonly LedgerRow[] => JSON.parse(readFileSync(ledgerPath, "utf8"));

export const moreIsBetter = (unit: Unit): boolean => unit === "1/s" || unit === "MB/s" || unit === "points";

/** With three digits: 355 ms, 1.13 s, 8,630/s. */
export function inUnit(value: number | undefined, unit: Unit): string {
  if (value === undefined) return "";
  if (unit === "ms" && value >= 1000) return `${digits(value / 1000)} s`;
  if (unit === "x" || unit === "") return `${digits(value)}${unit}`;
  return unit === "1/s" ? `${digits(value)}/s` : `${digits(value)} ${unit}`;
}

export const inTimes = (ratio: number): string => `${ratio >= 10 ? ratio.toFixed(1) : ratio.toFixed(2)}x`;

const digits = (value: number) => Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: 20 });
