import { ApiError } from "../api/api-error.ts";
import type { Statement } from "../api/complete-reply.ts";
import { money } from "../format.ts";

export type { Statement };
export type Month = Statement["chartData"][number];
export type Invoice = Statement["invoices"][number];

/** Formats the wire's major units: "$2.40", "₹212". */
export function amountText(amount: number, currency = "USD"): string {
  return money(Math.round(amount * 100), currency);
}

/** For labels; a declined attempt has no invoice, so it is named by the provider's id. */
export function nameOf({ state, number, payment_reference: payment, date }: Invoice): string {
  return state === "failed" ? `the attempt ${payment || date}` : number;
}

/** Formats the wire's "2026-11" as "Nov 2026", a UTC month in any zone (G19). */
export function monthName(month: string, shape: Intl.DateTimeFormatOptions): string {
  const first = new Date(`${month}-01T00:00:00Z`);
  return Number.isNaN(first.getTime()) ? "Invalid Date" : first.toLocaleString("en-US", { timeZone: "UTC", ...shape });
}

export const shortMonth = { month: "short" } as const;
export const longMonth = { month: "long", year: "numeric" } as const;

export interface Trend {
  readonly trend: "up" | "down" | "same";
  readonly text: string;
}

/** Compares this month with the last; undefined without a payment in the last, as nothing is a percentage of 0 (G310). */
export function trendOf({ trend, currentMonthUsage, chartData }: Statement): Trend | undefined {
  const previous = chartData.at(-2);
  if (!trend || !previous || previous.totalPaid === 0) return undefined;
  const month = monthName(previous.month, { month: "long" });
  const { changePercent } = trend;
  if (currentMonthUsage === previous.totalPaid) return { trend: "same", text: `Same as ${month}` };
  return { trend: trend.trend, text: `${changePercent.toLocaleString("en-US")}% ${trend.trend} on ${month}` };
}

/** The chart as text, for screen readers. */
export function chartText(title: string, months: readonly Month[], textOf: (month: Month) => string): string {
  return `${title}: ${months.map((month) => `${monthName(month.month, longMonth)} ${textOf(month)}`).join(", ")}`;
}

/** The reason for an empty page (spec 8.5). */
export function reasonOf(error: unknown): string {
  const refused = error instanceof ApiError && error.status >= 400;
  return refused ? `API error: ${error.status}` : "Failed to fetch billing data";
}

const tabs = ["overview", "invoices"] as const;

/** The tab of the URL (spec 4.5); the first by default. */
export function billingTab(params: URLSearchParams): (typeof tabs)[number] {
  return tabs.find((tab) => tab === params.get("tab")) ?? "overview";
}
