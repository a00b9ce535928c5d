import { expect, test } from "vitest";
import { expectedBy } from "./order-money.ts";
import { failureOf } from "./order-timeline.ts";

test.each([
  ["2026-11-16T10:00:00Z", "2026-11-23T10:00:00Z", "Monday"],
  ["2026-11-20T10:00:00Z", "2026-11-27T10:00:00Z", "Friday"],
  ["2026-11-21T10:00:00Z", "2026-11-27T10:00:00Z", "Saturday"],
  ["2026-11-22T23:59:59Z", "2026-11-27T23:59:59Z", "Sunday"],
  ["2026-12-31T23:59:59Z", "2027-01-07T23:59:59Z", "over the end of the year"],
])("five business days after %s are over on %s: %s (G16)", (from, by) => {
  const at = new Date(from);
  expect(expectedBy({ processed_at: at, created_at: new Date(0) })).toEqual(new Date(by));
  expect(expectedBy({ processed_at: null, created_at: at }), "counted from asking until it is sent").toEqual(
    new Date(by),
  );
});

test.each([
  ["insufficient_fund", "insufficient_funds"],
  ["insufficient_funds", "insufficient_funds"],
  ["payment_cancelled", "cancelled"],
  ["card_declined", "declined"],
  ["debit_instrument_blocked", "declined"],
  ["transaction_limit_exceeded", "declined"],
  ["payment_timed_out", "timed_out"],
  ["authentication_failed", "not_authenticated"],
  ["incorrect_otp", "not_authenticated"],
  ["incorrect_cvv", "wrong_details"],
  ["card_expired", "wrong_details"],
  ["gateway_technical_error", "technical"],
  ["server_error", "technical"],
  ["something_new", "other"],
  [null, "other"],
])("the provider's reason %s is shown as %s", (reason, failure) => {
  expect(failureOf(reason)).toBe(failure);
});
