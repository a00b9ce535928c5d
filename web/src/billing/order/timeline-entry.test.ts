import { type Order, type OrderFact, orderFacts } from "@berth/contract";
import { expect, test } from "vitest";
import { type MoneySums, moneySentence } from "../../content/order-texts.ts";
import { foldAttempts, timelineEntry } from "./timeline-entry.ts";

const order = {
  amount: 35,
  currency: "INR",
  duration_hours: 1,
  paid_with: "Visa ending in 1111",
  method: "card",
} as Order;
const at = "2026-11-20T14:00:00Z";
const failed = (index: number): OrderFact => ({ kind: "payment_failed", at, reference: `pay_${index}` });

test("every kind of fact has a text, with sums if it is about money", () => {
  const whole = { at, amount: 2.4, currency: "USD", hours: 2, expected_by: at } as const;
  for (const kind of orderFacts) expect(timelineEntry({ ...whole, kind }, order).title, kind).toMatch(/^[A-Z2]/);
  const textOf = (kind: OrderFact["kind"], change: Partial<OrderFact> = {}) => {
    const { title, text } = timelineEntry({ ...whole, kind, ...change }, order);
    return `${title}. ${text}`;
  };
  expect(textOf("ordered")).toBe("Ordered. ₹35 for 1 hour");
  expect(textOf("paid")).toBe("Paid. $2.40, Visa ending in 1111");
  expect(textOf("payment_failed", { failure: "declined" })).toBe(
    "Payment failed. Your bank declined it. Nothing was charged.",
  );
  expect(textOf("refund_started", { refund: "surplus_payment" })).toBe(
    "Refund started. $2.40: the order was paid twice",
  );
  expect(textOf("refund_sent")).toBe("Sent to your bank. $2.40, on your card by Nov 20, 2026");
  expect(textOf("bonus")).toBe("2 hours added. It took longer than ten minutes.");
  const free = (kind: OrderFact["kind"]) => timelineEntry({ ...whole, kind }, { ...order, amount: 0 });
  expect([free("ordered").text, free("credit_used").title]).toEqual(["A code covers it.", "2 hours of yours"]);
  expect(textOf("ended", { ended: "hardware" })).toBe("Ended. Its machine failed and could not be brought back.");
});

test("a long row of failed attempts shows only the last, a short one all", () => {
  const paid: OrderFact = { kind: "paid", at };
  const row = (count: number) => Array.from({ length: count }, (_, index) => failed(index));
  expect(foldAttempts([])).toEqual([]);
  expect(foldAttempts([paid, ...row(3), paid])).toEqual([paid, ...row(3), paid]);
  expect(foldAttempts([...row(4), paid])).toEqual([row(3), failed(3), paid]);
  expect(foldAttempts([paid, ...row(20)])).toEqual([paid, row(19), failed(19)]);
  expect(foldAttempts([...row(5), paid, ...row(2)])).toEqual([row(4), failed(4), paid, ...row(2)]);
});

test("the text of the money has its sum, and the day of a finished refund", () => {
  const sums: MoneySums = {
    ...{ amount: "$2.40", charged: "$4.80", refunding: "$2.40", refunded: "$1.60", disputed: "$0.40" },
    ...{ expectedBy: "Nov 27, 2026", isBack: false, closed: false, method: "card" },
  };
  const textOf = (...args: Parameters<typeof moneySentence>) => Object.values(moneySentence(...args)).join(". ");
  expect(textOf("nothing_taken", sums)).toContain("Nothing was taken. No payment has reached us.");
  expect(textOf("nothing_taken", { ...sums, closed: true })).toContain("the order is closed");
  expect(textOf("being_checked", sums)).toContain("$2.40 is being checked. ");
  expect(textOf("held", sums)).toContain("$4.80 is paid. ");
  expect(textOf("refund_started", sums)).toContain(
    "$2.40 is on its way back to your card. Banks take 4-5 business days.",
  );
  expect(textOf("refund_started", sums)).toContain("$4.80 was paid, $1.60 went back before.");
  expect(textOf("refund_started", { ...sums, charged: "$2.40" })).not.toContain("was paid");
  expect(textOf("refunded", sums)).toBe(
    "$1.60 went back to your card. It has left us. Banks take 4-5 business days: expected on your card by Nov 27, 2026.",
  );
  expect(textOf("refunded", { ...sums, isBack: true })).toContain("$1.60 is back on your card. ");
  expect(textOf("partly_refunded", sums)).toContain("$1.60 of $4.80 went back to your card. ");
  expect(textOf("partly_refunded", sums)).toContain("The rest paid for what was delivered.");
  expect(textOf("disputed", sums)).toContain("$0.40 is disputed by your bank. ");
  expect(textOf("taken_back", sums)).toContain("$0.40 was taken back by your bank. ");
  const at = (method: string | null) => textOf("refunded", { ...sums, method });
  expect(at("upi")).toBe(
    "$1.60 went back to your UPI account. It has left us. Banks take 4-5 business days: expected in your UPI account by Nov 27, 2026.",
  );
  expect(at("netbanking")).toContain("went back to your bank account. ");
  expect(at("wallet")).toContain("went back to your wallet. ");
  expect(at(null)).toContain("went back to the card or account that paid. ");
  expect(textOf("being_checked", { ...sums, method: "upi" })).toContain(
    "The payment waits for your approval in your UPI app.",
  );
  expect(textOf("needs_person", sums)).toContain("$2.40 is still owed to you. ");
});
