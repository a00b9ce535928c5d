import { inHours } from "./containers.ts";

const months = ["06", "07", "08", "09", "10", "11"].map((month) => `2026-${month}`);

/** Six months with a gap, an invoice in every state, and figures with four digits. */
export const fullStatement = {
  status: "success",
  currentMonthUsage: 1_238.6,
  totalSpent: 3_422.4,
  paymentCount: 60,
  monthlyTotals: {},
  trend: { trend: "up", changePercent: 73.9 },
  usageBreakdown: [
    { service: "jupyter", usage: 732, run: 611.4, cost: 1_338.6, unit: "hours" },
    { service: "pytorch", usage: 168, run: 80.2, cost: 1_260, unit: "hours" },
    { service: "tensorflow", usage: 24.5, run: 0, cost: 823.8, unit: "hours" },
  ],
  invoices: (["paid", "refunded", "partially_refunded", "pending", "failed"] as const).map((state, index) => ({
    number: `INV-${index}4kq0t9w2mz`,
    id: `${index}4kq0t9w2mzp7x`,
    order_id: `${index}${"k4q0t9w2mz".repeat(3).slice(0, 24)}`,
    date: inHours(-24 * index),
    amount: index === 1 ? 17_644 : 1_200,
    currency: index === 1 ? "INR" : "USD",
    status: state === "pending" || state === "failed" ? "Pending/Failed" : "Paid",
    state,
    description: "pytorch Environment",
    duration: index === 4 ? "N/A" : "168 hours",
    refunded: state === "refunded" ? 17_644 : state === "partially_refunded" ? 400 : 0,
    payment_reference: `pay_R${index}x7Qm2Lk9WzTa`,
    session_id: index === 4 ? null : `s${index}4kq0t9w2mzp7x`,
    credit_notes: state === "refunded" || state === "partially_refunded" ? [`CRN-${index}4kq0t9w2mz`] : [],
  })),
  recentPayments: [],
  chartData: months.map((month, index) => ({
    month,
    totalPaid: index === 2 ? 0 : 200 * (index + 1),
    paymentCount: index === 2 ? 0 : 4 * index + 1,
    avgPayment: 50,
  })),
};
