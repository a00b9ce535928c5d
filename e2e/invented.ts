import type { Page } from "@playwright/test";
import type { Container } from "../contract/src/index.ts";

const hourMs = 3_600_000;

/** An instant so many hours from now. */
export const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();

const plain: Container = {
  type: "pytorch",
  status: "active",
  subdomain: "resnet-lab",
  gpu_count: 2,
  duration_hours: 6,
  created_at: inHours(-3),
  expires_at: inHours(3),
  can_pause: true,
  banked_seconds: 0,
  stage: null,
  stage_percent: null,
  ended_reason: null,
  files_until: null,
};

/** One environment in every state that the list can show, the longest name and the widest sum of GPUs among them. */
export const everyState: Readonly<Record<string, Container>> = {
  "1a3f9c27b0d4e5a6": plain,
  "2b3f9c27b0d4e5a6": { ...plain, subdomain: "thesis", type: "jupyter", gpu_count: 1, expires_at: inHours(0.2) },
  "3c3f9c27b0d4e5a6": {
    ...plain,
    status: "paused",
    subdomain: "a-name-of-forty-characters-is-the-longest",
    gpu_count: 8,
  },
  "4d3f9c27b0d4e5a6": {
    ...plain,
    status: "stopped",
    subdomain: "kaggle-night",
    type: "tensorflow",
    expires_at: null,
    banked_seconds: 8_400,
  },
  "5e3f9c27b0d4e5a6": {
    ...plain,
    status: "pending",
    subdomain: "whisper-small",
    created_at: inHours(0),
    expires_at: null,
    stage: "image",
    stage_percent: 42,
  },
  "6f3f9c27b0d4e5a6": { ...plain, status: "unknown", subdomain: "" },
  "7a3f9c27b0d4e5a6": {
    ...plain,
    status: "terminated",
    subdomain: "old-one",
    expires_at: inHours(-30),
    created_at: inHours(-36),
    ended_reason: "expired",
    files_until: inHours(24 * 29),
  },
};

/** The profile as the server answers it, with these containers in place of its own. */
export async function showContainers(page: Page, containers: Readonly<Record<string, unknown>>): Promise<void> {
  await alterAnswer(page, "**/profile/*", (answer) => ({
    ...answer,
    user_data: { ...answer.user_data, containers },
  }));
}

/** What the server answers to this address, with a change. */
export async function alterAnswer(
  page: Page,
  path: string,
  // biome-ignore lint/suspicious/noExplicitAny: any answer of the API, of which a test changes a part
  change: (answer: any) => unknown,
): Promise<void> {
  await page.route(path, async (route) => {
    try {
      const response = await route.fetch();
      await route.fulfill({ response, json: change(await response.json()) });
    } catch (error) {
      // Taken back, or the test has ended, while the answer was on its way.
      if (!/already handled|ended|closed|disposed/.test(String(error))) throw error;
    }
  });
}

const months = ["06", "07", "08", "09", "10", "11"].map((month) => `2026-${month}`);

/** Six months with a gap, every state of an invoice, and figures with four digits. */
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
