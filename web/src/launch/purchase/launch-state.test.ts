import { moneyStates } from "@berth/contract";
import { expect, test } from "vitest";
import { followed, idle, isPaid, isPassing, mayLaunch, stepToChange } from "./launch-state.ts";
import { failureTitle, moneyText, sumLabel } from "./money-text.ts";

test("Launch works once until the order is over", () => {
  expect(mayLaunch(idle)).toBe(true);
  for (const phase of ["ordering", "clearing"] as const) expect(mayLaunch({ phase })).toBe(false);
  expect(mayLaunch({ phase: "paying", orderId: "o" })).toBe(false);
});

test("after the payment the steps are locked", () => {
  expect(isPaid({ phase: "paying", orderId: "o" })).toBe(false);
  expect(isPaid({ phase: "creating", paidAt: 0, cancelling: false })).toBe(true);
});

test("a refused order leads to the step that corrects it", () => {
  expect(stepToChange("subdomain_taken")).toBe(3);
  expect(stepToChange("out_of_stock")).toBe(2);
  expect(stepToChange("not_prepared")).toBe(1);
  expect(stepToChange("network")).toBeUndefined();
});

test("only temporary failures are retried", () => {
  expect(isPassing("network", 0)).toBe(true);
  expect(isPassing("unavailable", 503)).toBe(true);
  expect(isPassing("not_delivered", 409)).toBe(false);
  expect(isPassing("internal", 500)).toBe(false);
});

test("every state of the money has a text, with the sum if money moved", () => {
  for (const state of moneyStates) {
    const text = moneyText(state, "$2.40");
    expect(text.includes("$2.40")).toBe(state !== "nothing_taken");
  }
});

test("the label of the sum depends on the state of the money", () => {
  const failure = { status: 409, message: "", money: "refund_started", cancelled: false, orderId: "order_1" } as const;
  expect(sumLabel({ phase: "failed", paidAt: 0, failure })).toBe("Refund started");
  expect(sumLabel({ phase: "creating", paidAt: 0, cancelling: false })).toBe("Paid");
  expect(sumLabel(idle)).toBe("Total");
});

test("a cancelled launch is not called a failure", () => {
  const failure = { status: 409, message: "", money: "refund_started", cancelled: true, orderId: "order_1" } as const;
  expect(failureTitle(failure)).toBe("Launch cancelled");
  expect(failureTitle({ ...failure, cancelled: false })).toBe("This environment could not be started");
});

test("an unanswered launch goes on with its environment, and fails only if that ends (G302)", () => {
  const failure = { status: 500, message: "", money: "being_checked", cancelled: false, orderId: "order_1" } as const;
  const failed = { phase: "failed", paidAt: 1, failure } as const;
  const goesOn = followed(failed, "pending", 5);
  expect(goesOn).toEqual({ phase: "creating", paidAt: 1, cancelling: false, unconfirmed: failure });
  expect(followed(goesOn, "pending", 5)).toBe(goesOn);
  expect(followed(goesOn, "active", 5)).toEqual({ phase: "ready", paidAt: 1, readyAt: 5 });
  expect(followed(goesOn, "terminated", 5)).toEqual(failed);
  const refunded = { ...failed, failure: { ...failure, money: "refund_started" } } as const;
  expect(followed(refunded, "active", 5)).toBe(refunded);
  const answered = { phase: "creating", paidAt: 1, cancelling: false } as const;
  expect(followed(answered, "active", 5)).toBe(answered);
});
