import { expect, test } from "vitest";
import { costSoFar, givenUp } from "./given-up.ts";

const now = Date.parse("2026-11-28T06:00:00Z");
const booked = { hours: 2, paid: [{ currency: "USD", amount: 0.4 }] };

test("what an end gives up is said in time and money, rounded down as a refund is", () => {
  const running = { expires_at: "2026-11-28T07:47:30Z", banked_seconds: 0, booked };
  expect(givenUp(running, now)).toBe("1h 47m, $0.35 of $0.40");
  expect(givenUp({ expires_at: null, banked_seconds: 3600, booked }, now)).toBe("1h 0m, $0.20 of $0.40");
  const both = { hours: 2, paid: [...booked.paid, { currency: "INR", amount: 35 }] };
  expect(givenUp({ ...running, booked: both }, now)).toBe("1h 47m, $0.35 of $0.40, ₹31.35 of ₹35");
});

test("without a payment only the time is said, and nothing without time", () => {
  const free = { expires_at: "2026-11-28T07:00:00Z", banked_seconds: 0, booked: { hours: 10, paid: [] } };
  expect(givenUp(free, now)).toBe("1h 0m");
  expect(givenUp({ ...free, booked: undefined }, now)).toBe("1h 0m");
  expect(givenUp({ expires_at: null, banked_seconds: 0, booked }, now)).toBeUndefined();
  expect(givenUp({ expires_at: "2026-11-28T05:00:00Z", banked_seconds: 0, booked }, now)).toBeUndefined();
});

test("what is used so far is the rest of what an end gives up (G392)", () => {
  const running = { expires_at: "2026-11-28T07:47:30Z", banked_seconds: 0, booked };
  expect(costSoFar(running, now)).toBe("$0.05 of $0.40");
  expect(costSoFar({ expires_at: null, banked_seconds: 3600, booked }, now)).toBe("$0.20 of $0.40");
  expect(costSoFar({ ...running, booked: { hours: 2, paid: [] } }, now)).toBe("");
});
