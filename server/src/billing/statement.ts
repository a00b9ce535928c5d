import { type billing, major, plural, type ReplyOf } from "@berth/contract";
import { invoiceNumber } from "../payments/ledger/issue-receipt.ts";

type Statement = Omit<ReplyOf<typeof billing>, "status">;
type Invoice = Statement["invoices"][number];

/** Paid orders of one UTC month ("2026-11") and one container type. Money is US cents, net of refunds (G20). */
export interface MonthRow {
  readonly month: string;
  readonly service: string;
  readonly usd_minor: number;
  /** Orders that were not refunded in full. */
  readonly payments: number;
  readonly hours: number;
}

/** One order's furthest payment. `usd_minor` is the list price; the amount is in minor units of `currency` (G7). */
export interface InvoiceRow {
  readonly id: string;
  readonly gateway_payment_id: string;
  readonly status: "created" | "failed" | "authorized" | "captured";
  readonly amount_minor: number;
  readonly currency: string;
  readonly refund_minor: number;
  readonly created_at: Date;
  readonly at: Date;
  readonly order_id: string;
  readonly usd_minor: number;
  readonly container_type: string;
  readonly duration_hours: number;
  readonly session_id: string | null;
  /** Numbers, oldest first. */
  readonly credit_notes: readonly string[];
}

export interface RunRow {
  readonly service: string;
  readonly hours: number;
}

export interface Sources {
  readonly months: readonly MonthRow[];
  /** Newest first. */
  readonly invoices: readonly InvoiceRow[];
  readonly runs: readonly RunRow[];
}

/** Spec 3.4 and 9.3. */
const chartMonths = 6;
const recentCount = 5;

/** Builds the reply to `GET /billing/{user_id}` (spec 3.4). */
export function buildStatement({ months, invoices, runs }: Sources, now: Date): Statement {
  const totals = totalsOf(months);
  const shown = lastMonths(now, chartMonths);
  const [previous, current] = shown.slice(-2).map((month) => totals.get(month)?.usdMinor ?? 0);
  const kept = [...totals].filter(([, { payments }]) => payments > 0);
  return {
    currentMonthUsage: major(current ?? 0),
    totalSpent: major(sumOf(months, ({ usd_minor }) => usd_minor)),
    paymentCount: sumOf(months, ({ payments }) => payments),
    monthlyTotals: Object.fromEntries(kept.map(([month, { usdMinor }]) => [month, major(usdMinor)])),
    trend: trendOf(current ?? 0, previous ?? 0),
    usageBreakdown: breakdownOf(months, runs),
    invoices: invoices.map(invoiceOf),
    recentPayments: invoices.slice(0, recentCount).map(paymentOf),
    // Without any payment the screen shows a sentence instead of six empty months (G20).
    chartData: months.length === 0 ? [] : shown.map((month) => chartMonth(month, totals.get(month))),
  };
}

/** Change from last month to this one in percent, with one decimal (G19). */
export function trendOf(currentMinor: number, previousMinor: number): Statement["trend"] {
  if (currentMinor === previousMinor) return { trend: "up", changePercent: 0 };
  if (previousMinor === 0) return { trend: "up", changePercent: 100 };
  const changePercent = Math.round((Math.abs(currentMinor - previousMinor) * 1000) / previousMinor) / 10;
  return { trend: currentMinor > previousMinor ? "up" : "down", changePercent };
}

interface Total {
  usdMinor: number;
  payments: number;
}

function totalsOf(months: readonly MonthRow[]): ReadonlyMap<string, Total> {
  const totals = new Map<string, Total>();
  for (const { month, usd_minor, payments } of months.toSorted((a, b) => a.month.localeCompare(b.month))) {
    const before = totals.get(month) ?? { usdMinor: 0, payments: 0 };
    totals.set(month, { usdMinor: before.usdMinor + usd_minor, payments: before.payments + payments });
  }
  return totals;
}

/** "2026-06" to "2026-11": the UTC months up to `now`'s, oldest first. */
function lastMonths(now: Date, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1 - count + index, 1));
    return first.toISOString().slice(0, 7);
  });
}

function chartMonth(month: string, { usdMinor, payments }: Total = { usdMinor: 0, payments: 0 }) {
  // Rounds half a cent up in integers: floats would round some halves down.
  const averageMinor = payments === 0 ? 0 : Math.floor((2 * usdMinor + payments) / (2 * payments));
  return { month, totalPaid: major(usdMinor), paymentCount: payments, avgPayment: major(averageMinor) };
}

/** Highest cost first; types without cost, booked or running hours are left out. */
function breakdownOf(months: readonly MonthRow[], runs: readonly RunRow[]): Statement["usageBreakdown"] {
  const services = new Set([...months, ...runs].map(({ service }) => service));
  return [...services]
    .map((service) => {
      const own = months.filter((row) => row.service === service);
      const ran = runs.filter((row) => row.service === service);
      return {
        service,
        usage: oneDecimal(sumOf(own, ({ hours }) => hours)),
        run: oneDecimal(sumOf(ran, ({ hours }) => hours)),
        cost: major(sumOf(own, ({ usd_minor }) => usd_minor)),
        unit: "hours" as const,
      };
    })
    .filter(({ usage, run, cost }) => usage > 0 || run > 0 || cost > 0)
    .toSorted((a, b) => b.cost - a.cost || a.service.localeCompare(b.service));
}

function invoiceOf(row: InvoiceRow): Invoice {
  return {
    number: invoiceNumber(row.id),
    id: row.id,
    order_id: row.order_id,
    date: row.at.toISOString(),
    amount: major(row.amount_minor),
    currency: row.currency,
    status: row.status === "captured" ? "Paid" : "Pending/Failed",
    state: stateOf(row),
    description: `${row.container_type || "GPU"} Environment`,
    duration: row.duration_hours > 0 ? plural(row.duration_hours, "hour") : "N/A",
    refunded: major(row.refund_minor),
    payment_reference: row.gateway_payment_id,
    session_id: row.session_id,
    credit_notes: [...row.credit_notes],
  };
}

/** Determines the color of the badge, which has only two texts (G17). */
function stateOf({ status, refund_minor, amount_minor }: InvoiceRow): Invoice["state"] {
  if (status === "failed") return "failed";
  if (status !== "captured") return "pending";
  if (refund_minor === 0) return "paid";
  return refund_minor < amount_minor ? "partially_refunded" : "refunded";
}

/** As in the profile: the USD list price, `refunded` once all has gone back (G7, G87). */
function paymentOf(row: InvoiceRow): Statement["recentPayments"][number] {
  const state = stateOf(row);
  return {
    amount: major(row.usd_minor),
    status: state === "partially_refunded" ? "paid" : state,
    created_at: row.created_at.toISOString(),
    service_details: { container_type: row.container_type, duration_hours: row.duration_hours },
  };
}

function sumOf<T>(rows: readonly T[], pick: (row: T) => number): number {
  return rows.reduce((sum, row) => sum + pick(row), 0);
}

function oneDecimal(hours: number): number {
  return Math.round(hours * 10) / 10;
}
