import { expect, test } from "vitest";
import { buildStatement, type InvoiceRow, type MonthRow, type Sources, trendOf } from "./statement.ts";

const now = new Date("2026-11-20T14:00:00Z");
const empty: Sources = { months: [], invoices: [], runs: [] };

function month(month: string, usd_minor: number, change: Partial<MonthRow> = {}): MonthRow {
  return { month, service: "jupyter", usd_minor, payments: usd_minor > 0 ? 1 : 0, hours: 1, ...change };
}

function invoice(change: Partial<InvoiceRow> = {}): InvoiceRow {
  const at = new Date("2026-11-03T10:00:00Z");
  return {
    id: "9kx2mq7vt4a0000000000000z",
    gateway_payment_id: "pay_abc",
    status: "captured",
    amount_minor: 21200,
    currency: "INR",
    refund_minor: 0,
    created_at: at,
    at,
    order_id: "o1",
    usd_minor: 240,
    container_type: "jupyter",
    duration_hours: 12,
    session_id: "s1",
    credit_notes: ["CRN-a"],
    ...change,
  };
}

test("C43 nobody paid anything: zeros, and no chart rather than six empty months (G20)", () => {
  expect(buildStatement(empty, now)).toEqual({
    currentMonthUsage: 0,
    totalSpent: 0,
    paymentCount: 0,
    monthlyTotals: {},
    trend: { trend: "up", changePercent: 0 },
    usageBreakdown: [],
    invoices: [],
    recentPayments: [],
    chartData: [],
  });
});

test("C43 the first month: six months zero-filled, and up by 100 (G19, G20)", () => {
  const { chartData, trend, monthlyTotals } = buildStatement({ ...empty, months: [month("2026-11", 40)] }, now);
  expect(chartData.map(({ month, totalPaid }) => [month, totalPaid])).toEqual([
    ["2026-06", 0],
    ["2026-07", 0],
    ["2026-08", 0],
    ["2026-09", 0],
    ["2026-10", 0],
    ["2026-11", 0.4],
  ]);
  expect(trend).toEqual({ trend: "up", changePercent: 100 });
  expect(monthlyTotals).toEqual({ "2026-11": 0.4 });
});

test("C43 the month is the UTC one at both ends of the year, whatever the zone of the machine", () => {
  const months = [month("2026-12", 100), month("2027-01", 300)];
  const before = buildStatement({ ...empty, months }, new Date("2026-12-31T23:59:59.999Z"));
  const after = buildStatement({ ...empty, months }, new Date("2027-01-01T00:00:00Z"));
  expect(before.currentMonthUsage).toBe(1);
  expect(after.currentMonthUsage).toBe(3);
  expect(after.chartData.map(({ month }) => month)).toEqual([
    "2026-08",
    "2026-09",
    "2026-10",
    "2026-11",
    "2026-12",
    "2027-01",
  ]);
  expect(after.trend).toEqual({ trend: "up", changePercent: 200 });
  // The 31st has no counterpart in five of the other months.
  const august = buildStatement({ ...empty, months: [month("2026-08", 1)] }, new Date("2026-08-31T12:00:00Z"));
  expect(august.chartData.map(({ month }) => month)).toEqual([
    "2026-03",
    "2026-04",
    "2026-05",
    "2026-06",
    "2026-07",
    "2026-08",
  ]);
});

test("C43 a refund of last month's payment lowers last month; a full one leaves totals and counts (G20)", () => {
  const kept = month("2026-10", 480);
  const refunded = month("2026-10", 0, { service: "pytorch", hours: 0 });
  const { totalSpent, paymentCount, chartData, monthlyTotals, usageBreakdown, trend } = buildStatement(
    { ...empty, months: [kept, refunded, month("2026-11", 240)] },
    now,
  );
  expect([totalSpent, paymentCount]).toEqual([7.2, 2]);
  expect(chartData.at(-2)).toEqual({ month: "2026-10", totalPaid: 4.8, paymentCount: 1, avgPayment: 4.8 });
  expect(monthlyTotals).toEqual({ "2026-10": 4.8, "2026-11": 2.4 });
  expect(usageBreakdown.map(({ service }) => service)).toEqual(["jupyter"]);
  expect(trend).toEqual({ trend: "down", changePercent: 50 });
});

test("all of it refunded: the chart is six true zeros, and no month counts", () => {
  const { chartData, monthlyTotals, paymentCount } = buildStatement({ ...empty, months: [month("2026-11", 0)] }, now);
  expect(chartData).toHaveLength(6);
  expect([monthlyTotals, paymentCount]).toEqual([{}, 0]);
});

test("older payments than six months count in the total and not in the chart", () => {
  const { totalSpent, chartData } = buildStatement({ ...empty, months: [month("2026-05", 500)] }, now);
  expect(totalSpent).toBe(5);
  expect(chartData.map(({ totalPaid }) => totalPaid)).toEqual([0, 0, 0, 0, 0, 0]);
});

test.each([
  [0, 0, "up", 0],
  [1, 0, "up", 100],
  [0, 1, "down", 100],
  [240, 240, "up", 0],
  [3860, 2220, "up", 73.9],
  [2220, 3860, "down", 42.5],
  [1000, 1, "up", 99900],
] as const)("from %i to %i cents is %s by %f %%", (current, previous, trend, changePercent) => {
  expect(trendOf(current, previous)).toEqual({ trend, changePercent });
});

test("averages round half a cent up, and sums of cents stay exact", () => {
  const rows = (usd_minor: number, payments: number) => [month("2026-11", usd_minor, { payments })];
  const average = (usd: number, payments: number) =>
    buildStatement({ ...empty, months: rows(usd, payments) }, now).chartData.at(-1)?.avgPayment;
  expect([average(1, 2), average(201, 2), average(100, 3), average(200, 3)]).toEqual([0.01, 1.01, 0.33, 0.67]);
  const dimes = Array.from({ length: 3 }, () => month("2026-11", 10));
  expect(buildStatement({ ...empty, months: dimes }, now).totalSpent).toBe(0.3);
});

test("usage by type: booked beside run with one decimal, dearest first (G32)", () => {
  const months = [
    month("2026-10", 20, { hours: 1 }),
    month("2026-11", 20, { hours: 1.25 }),
    month("2026-11", 480, { service: "pytorch", hours: 24 }),
  ];
  const runs = [
    { service: "jupyter", hours: 0.94 },
    { service: "tensorflow", hours: 0.5 },
  ];
  expect(buildStatement({ ...empty, months, runs }, now).usageBreakdown).toEqual([
    { service: "pytorch", usage: 24, run: 0, cost: 4.8, unit: "hours" },
    { service: "jupyter", usage: 2.3, run: 0.9, cost: 0.4, unit: "hours" },
    { service: "tensorflow", usage: 0, run: 0.5, cost: 0, unit: "hours" },
  ]);
});

test("an invoice is as charged, a recent payment as listed (G7, G18, G70)", () => {
  // Tried on the 2nd, paid on the 3rd.
  const first = invoice({ created_at: new Date("2026-11-02T10:00:00Z") });
  const { invoices, recentPayments } = buildStatement({ ...empty, invoices: [first] }, now);
  expect(invoices).toEqual([
    {
      number: "INV-9kx2mq7vt4a",
      id: "9kx2mq7vt4a0000000000000z",
      order_id: "o1",
      date: "2026-11-03T10:00:00.000Z",
      amount: 212,
      currency: "INR",
      status: "Paid",
      state: "paid",
      description: "jupyter Environment",
      duration: "12 hours",
      refunded: 0,
      payment_reference: "pay_abc",
      session_id: "s1",
      credit_notes: ["CRN-a"],
    },
  ]);
  expect(recentPayments).toEqual([
    {
      amount: 2.4,
      status: "paid",
      created_at: "2026-11-02T10:00:00.000Z",
      service_details: { container_type: "jupyter", duration_hours: 12 },
    },
  ]);
  const tried = ["created", "failed", "authorized"] as const;
  const unpaid = buildStatement({ ...empty, invoices: tried.map((status) => invoice({ status })) }, now);
  expect(unpaid.recentPayments.map(({ status }) => status)).toEqual(["pending", "failed", "pending"]);
  const other = invoice({ container_type: "", duration_hours: 1, session_id: null });
  const [one] = buildStatement({ ...empty, invoices: [other] }, now).invoices;
  expect(one).toMatchObject({ description: "GPU Environment", duration: "1 hour", session_id: null });
});

test.each([
  [{ status: "created" }, "Pending/Failed", "pending", "pending"],
  [{ status: "authorized" }, "Pending/Failed", "pending", "pending"],
  [{ status: "failed" }, "Pending/Failed", "failed", "failed"],
  [{ refund_minor: 1 }, "Paid", "partially_refunded", "paid"],
  [{ refund_minor: 21200 }, "Paid", "refunded", "refunded"],
] as const)("a payment of %o reads %s and is %s (G17, G87)", (change, status, state, paid) => {
  const { invoices, recentPayments } = buildStatement({ ...empty, invoices: [invoice(change)] }, now);
  expect(invoices[0]).toMatchObject({ status, state });
  expect(recentPayments[0]?.status).toBe(paid);
});

test("five recent payments of ten invoices (spec 3.4)", () => {
  const invoices = Array.from({ length: 10 }, () => invoice());
  const answer = buildStatement({ ...empty, invoices }, now);
  expect([answer.invoices.length, answer.recentPayments.length]).toEqual([10, 5]);
});
