import { expect, test } from "vitest";
import { type PaymentRow, paymentOf } from "./payments-of.ts";

const row: PaymentRow = {
  id: "p1",
  user_id: "ada",
  status: "captured",
  amount_minor: 21200,
  refund_minor: 0,
  created_at: new Date("2026-11-03T10:00:00Z"),
  usd_minor: 240,
  container_type: "jupyter",
  duration_hours: 12,
};

test("a payment of the profile: the list price, when it was tried, and paid only where it was captured (3, G7, G87)", () => {
  expect(paymentOf(row)).toEqual({
    amount: 2.4,
    status: "paid",
    created_at: "2026-11-03T10:00:00.000Z",
    service_details: { container_type: "jupyter", duration_hours: 12 },
  });
  const statusOf = (change: Partial<PaymentRow>) => paymentOf({ ...row, ...change }).status;
  expect(statusOf({ status: "created" })).toBe("pending");
  expect(statusOf({ status: "authorized" })).toBe("pending");
  expect(statusOf({ status: "failed" })).toBe("failed");
  expect(statusOf({ refund_minor: 21199 })).toBe("paid");
  expect(statusOf({ refund_minor: 21200 })).toBe("refunded");
});
