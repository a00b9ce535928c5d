import type { Page } from "@playwright/test";
import type { Container, Order, OrderFact } from "../../contract/src/index.ts";

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

const usd = { amount: 2.4, currency: "USD" } as const;
const paidFacts: OrderFact[] = [
  { kind: "ordered", at: inHours(-2) },
  { kind: "paid", at: inHours(-1.99), ...usd, reference: "pay_R1x7Qm2Lk9WzTa" },
];

/** A paid and delivered order of USD 2.40, or with a change another one. */
function fixtureOrder({ money, references, ...change }: Partial<Order> = {}): Order {
  return {
    id: "9k4q0t9w2mzp7xk4q0t9w2mzp",
    state: "delivered",
    container_type: "pytorch",
    subdomain: "resnet-lab",
    gpu_count: 2,
    duration_hours: 6,
    extends: false,
    ordered_at: inHours(-2),
    list_price: 2.4,
    ...usd,
    inr_per_usd: null,
    paid_with: "MasterCard ending in 4444",
    test_mode: true,
    timeline: [
      ...paidFacts,
      { kind: "delivered", at: inHours(-1.98) },
      { kind: "bonus", at: inHours(-1.98), hours: 2 },
      { kind: "extended", at: inHours(-1), hours: 6, order_id: "8k4q0t9w2mzp7xk4q0t9w2mzp" },
    ],
    receipts: ["INV-94kq0t9w2mz"],
    credit_notes: [],
    may_ask_refund: true,
    ...change,
    money: {
      ...{
        place: "delivered",
        currency: "USD",
        charged: 2.4,
        refunding: 0,
        refunded: 0,
        disputed: 0,
        expected_by: null,
      },
      ...money,
    },
    references: {
      ...{
        environment: "1a3f9c27b0d4e5a61a3f9c27b",
        invoice: "INV-94kq0t9w2mz",
        payment: "pay_R1x7Qm2Lk9WzTa",
        session: "s94kq0t9w2mzp7xk4q0t9w2mz",
        bank: [],
      },
      ...references,
    },
  };
}

const refund = { ...usd, refund: "not_delivered", expected_by: inHours(24 * 7) } as const;
const attempts = Array.from({ length: 20 }, (_, index): OrderFact => {
  const failure = index % 2 === 0 ? "declined" : "insufficient_funds";
  return {
    kind: "payment_failed",
    at: inHours(-2 + index / 60),
    ...usd,
    failure,
    reference: `pay_${index}x7Qm2Lk9WzTa`,
  };
});
const refunds = [1, 2, 3, 4].flatMap((index): OrderFact[] => [
  { ...refund, kind: "refund_started", at: inHours(-0.5 + index / 100), amount: 0.4 },
  { ...refund, kind: "refund_sent", at: inHours(-0.4 + index / 100), amount: 0.4, reference: `7420193846501${index}` },
]);

/** One for each place that money can be in, by a name for its picture. */
export const everyPlace: Readonly<Record<string, Order>> = {
  delivered: fixtureOrder(),
  unpaid: fixtureOrder({
    ...{ state: "awaiting_payment", timeline: paidFacts.slice(0, 1), receipts: [], paid_with: null },
    money: {
      place: "nothing_taken",
      currency: "USD",
      charged: 0,
      refunding: 0,
      refunded: 0,
      disputed: 0,
      expected_by: null,
    },
    references: { environment: null, invoice: null, payment: null, session: null, bank: [] },
  }),
  checked: fixtureOrder({
    ...{ state: "payment_closed", receipts: [], amount: 17_644, currency: "INR", inr_per_usd: 88.22, list_price: 200 },
    timeline: [
      ...paidFacts.slice(0, 1),
      { kind: "payment_waiting", at: inHours(-1.9), amount: 17_644, currency: "INR", reference: "pay_R2x7Qm2Lk9WzTa" },
      { kind: "payment_closed", at: inHours(-1.8) },
    ],
    money: {
      place: "being_checked",
      currency: "INR",
      charged: 0,
      refunding: 0,
      refunded: 0,
      disputed: 0,
      expected_by: null,
    },
  }),
  held: fixtureOrder({
    ...{ state: "starting", timeline: paidFacts },
    money: { place: "held", currency: "USD", charged: 2.4, refunding: 0, refunded: 0, disputed: 0, expected_by: null },
  }),
  started: fixtureOrder({
    state: "not_delivered",
    timeline: [
      ...paidFacts,
      { kind: "not_delivered", at: inHours(-1) },
      { ...refund, kind: "refund_started", at: inHours(-1) },
      { kind: "credited", at: inHours(-1), hours: 2 },
      { ...refund, kind: "refund_waiting", at: null },
    ],
    money: {
      place: "refund_started",
      currency: "USD",
      charged: 2.4,
      refunding: 2.4,
      refunded: 0,
      disputed: 0,
      expected_by: null,
    },
  }),
  refunded: fixtureOrder({
    ...{ state: "cancelled", credit_notes: ["CRN-74kq0t9w2mz"] },
    timeline: [
      ...paidFacts,
      { kind: "cancelled", at: inHours(-1) },
      { ...refund, kind: "refund_started", refund: "cancelled", at: inHours(-1) },
      { ...refund, kind: "refund_sent", refund: "cancelled", at: inHours(-0.9), reference: "74201938465012" },
    ],
    money: {
      ...{ place: "refunded", currency: "USD", charged: 2.4, refunding: 0, refunded: 2.4, disputed: 0 },
      expected_by: refund.expected_by,
    },
    references: {
      environment: null,
      invoice: "INV-94kq0t9w2mz",
      payment: "pay_R1x7Qm2Lk9WzTa",
      session: null,
      bank: ["74201938465012"],
    },
  }),
  disputed: fixtureOrder({
    timeline: [
      ...paidFacts,
      { kind: "delivered", at: inHours(-1.98) },
      { kind: "dispute_opened", at: inHours(-1), ...usd },
    ],
    money: {
      place: "disputed",
      currency: "USD",
      charged: 2.4,
      refunding: 0,
      refunded: 0,
      disputed: 2.4,
      expected_by: null,
    },
  }),
  many: fixtureOrder({
    ...{ state: "ended", subdomain: "a-name-of-forty-characters-is-the-longest", gpu_count: 8, duration_hours: 720 },
    timeline: [
      ...paidFacts.slice(0, 1),
      ...attempts,
      { kind: "paid", at: inHours(-1.5), ...usd, reference: "pay_R1x7Qm2Lk9WzTa" },
      { kind: "paid_again", at: inHours(-1.4), ...usd, reference: "pay_R3x7Qm2Lk9WzTa" },
      { kind: "delivered", at: inHours(-1.3) },
      { kind: "ended", at: inHours(-0.6), ended: "hardware" },
      ...refunds,
      { ...refund, kind: "refund_started", at: inHours(-0.3), refund: "surplus_payment" },
      { ...refund, kind: "refund_failed", at: null, refund: "surplus_payment" },
    ],
    receipts: ["INV-94kq0t9w2mz", "INV-84kq0t9w2mz"],
    money: {
      ...{ place: "needs_person", currency: "USD", charged: 4.8, refunding: 2.4, refunded: 1.6, disputed: 0 },
      expected_by: refund.expected_by,
    },
    references: {
      environment: "1a3f9c27b0d4e5a61a3f9c27b",
      ...{ invoice: "INV-94kq0t9w2mz", payment: "pay_R1x7Qm2Lk9WzTa", session: "s94kq0t9w2mzp7xk4q0t9w2mz" },
      bank: [4, 3, 2, 1].map((index) => `7420193846501${index}`),
    },
  }),
};

/** The server's answer about an order, whichever is asked for; the page itself comes as it is. */
export async function showOrder(page: Page, order: Order): Promise<void> {
  await page.unroute("**/orders/*");
  await page.route("**/orders/*", (route) =>
    route.request().resourceType() === "document"
      ? route.continue()
      : route.fulfill({ json: { status: "success", order } }),
  );
}
