import { moneyStates } from "@berth/contract";
import { expect, test } from "vitest";
import { idle, isPaid, isPassing, mayLaunch, stepToChange } from "./launch-state.ts";
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
