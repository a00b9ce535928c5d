import type { Page } from "@playwright/test";
import type { Order, OrderFact } from "../../contract/src/index.ts";
import { inHours } from "./containers.ts";
import { jsonReply, mockCalls } from "./mock-calls.ts";

const usd = { amount: 2.4, currency: "USD" } as const;
const paidFacts: OrderFact[] = [
  { kind: "ordered", at: inHours(-2) },
  { kind: "paid", at: inHours(-1.99), ...usd, reference: "pay_R1x7Qm2Lk9WzTa" },
];

/** A delivered order of USD 2.40, with changes. */
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
    rate: null,
    inr_per_usd: null,
    paid_with: "MasterCard ending in 4444",
    method: "card",
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

/** One order for each state of the money, by the name of its screenshot. */
export const ordersByMoney: Readonly<Record<string, Order>> = {
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
    ...{
      state: "payment_closed",
      receipts: [],
      amount: 17_644,
      currency: "INR",
      rate: 88.22,
      inr_per_usd: 88.22,
      list_price: 200,
    },
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

/** Replies with this order to all calls for an order. */
export async function showOrder(page: Page, order: Order): Promise<void> {
  await mockCalls(page, "**/orders/*", jsonReply({ status: "success", order }));
}
