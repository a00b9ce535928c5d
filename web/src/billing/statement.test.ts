import { expect, test } from "vitest";
import { ApiError } from "../api/api-error.ts";
import {
  amountText,
  billingTab,
  chartText,
  longMonth,
  monthName,
  reasonOf,
  type Statement,
  shortMonth,
  trendOf,
} from "./statement.ts";

function statement(current: number, previous: number, trend: Statement["trend"]): Statement {
  const month = (month: string, totalPaid: number) => ({ month, totalPaid, paymentCount: 1, avgPayment: totalPaid });
  return {
    currentMonthUsage: current,
    totalSpent: current + previous,
    paymentCount: 2,
    monthlyTotals: {},
    trend,
    usageBreakdown: [],
    invoices: [],
    recentPayments: [],
    chartData: [month("2026-10", previous), month("2026-11", current)],
  };
}

test("wire amounts are formatted to the cent, and rupees are whole", () => {
  expect([amountText(0.1 + 0.2), amountText(1200), amountText(212, "INR"), amountText(1.005)]).toEqual([
    "$0.30",
    "$1,200.00",
    "₹212",
    "$1.00",
  ]);
});

test("a UTC month keeps its name in every zone, and an invalid one is Invalid Date", () => {
  expect([monthName("2026-01", shortMonth), monthName("2026-12", longMonth)]).toEqual(["Jan", "December 2026"]);
  expect(monthName("soon", longMonth)).toBe("Invalid Date");
});

test("the trend as text (G19)", () => {
  expect(trendOf(statement(38.6, 22.2, { trend: "up", changePercent: 73.9 }))).toEqual({
    trend: "up",
    text: "73.9% up on October",
  });
  expect(trendOf(statement(0, 22.2, { trend: "down", changePercent: 100 }))?.text).toBe("100% down on October");
  expect(trendOf(statement(5, 5, { trend: "up", changePercent: 0 }))).toEqual({
    trend: "same",
    text: "Same as October",
  });
  // Nothing is a percentage of nothing (G310).
  expect(trendOf(statement(5, 0, { trend: "up", changePercent: 100 }))).toBeUndefined();
  expect(trendOf(statement(0, 0, { trend: "up", changePercent: 0 }))).toBeUndefined();
  expect(trendOf({ ...statement(0, 0, { trend: "up", changePercent: 0 }), chartData: [] })).toBeUndefined();
});

test("a chart's text is one sentence", () => {
  const { chartData } = statement(4.8, 2.4, { trend: "up", changePercent: 100 });
  expect(chartText("Monthly spending", chartData, ({ totalPaid }) => amountText(totalPaid))).toBe(
    "Monthly spending: October 2026 $2.40, November 2026 $4.80",
  );
});

test("the reason is the server's message, or that it did not reply (spec 8.5)", () => {
  expect(reasonOf(new ApiError("internal", "", 500))).toBe("API error: 500");
  expect(reasonOf(new ApiError("network", "", 0))).toBe("Failed to fetch billing data");
  expect(reasonOf(new TypeError("boom"))).toBe("Failed to fetch billing data");
});

test("the tab of the URL, or the first", () => {
  expect(billingTab(new URLSearchParams("tab=invoices"))).toBe("invoices");
  expect([billingTab(new URLSearchParams("tab=nonsense")), billingTab(new URLSearchParams())]).toEqual([
    "overview",
    "overview",
  ]);
});

test("months at year ends and in leap years keep their names, and an invalid month is Invalid Date", () => {
  const names = ["2024-02", "2026-12", "2027-01"].map((month) => monthName(month, longMonth));
  expect(names).toEqual(["February 2024", "December 2026", "January 2027"]);
  for (const nonsense of ["2026-13", "2026-00", "", "26"])
    expect(monthName(nonsense, shortMonth), nonsense).toBe("Invalid Date");
});

test("a large change has grouped digits, and a month without a previous one has no trend", () => {
  expect(trendOf(statement(1_000, 0.2, { trend: "up", changePercent: 499_900 }))?.text).toBe("499,900% up on October");
  const [only] = statement(5, 0, { trend: "up", changePercent: 100 }).chartData;
  expect(
    trendOf({ ...statement(5, 0, { trend: "up", changePercent: 100 }), chartData: only ? [only] : [] }),
  ).toBeUndefined();
});
