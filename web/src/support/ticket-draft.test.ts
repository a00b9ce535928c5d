import { expect, test } from "vitest";
import { supportPath } from "../ui/controls/support-path.ts";
import { ticketDraftOf } from "./ticket-draft.ts";

const read = (query: string) => ticketDraftOf(new URLSearchParams(query));

test("a row's ids are in the description (G70)", () => {
  expect(read("issue=payment_issues&session=abc123&payment=pay_X1")).toEqual({
    issueType: "payment_issues",
    description: "Session ID: abc123\nPayment reference: pay_X1\n\n",
  });
  expect(read("payment=pay_X1").description).toBe("Payment reference: pay_X1\n\n");
});

test.each(["", "issue=weather", "session=", "session=send%20money%20to", `payment=${"x".repeat(65)}`])(
  "%s is ignored",
  (query) => {
    expect(read(query)).toEqual({ issueType: null, description: "" });
  },
);

test("the form reads the link of a row, and missing ids are omitted (G70)", () => {
  const link = (row: Parameters<typeof supportPath>[0]) =>
    ticketDraftOf(new URL(supportPath(row), "http://x").searchParams);
  expect(link({ issue: "payment_issues", session: "abc123", payment: "pay_X1" })).toEqual({
    issueType: "payment_issues",
    description: "Session ID: abc123\nPayment reference: pay_X1\n\n",
  });
  expect(link({ issue: "container_issues", session: null, payment: null })).toEqual({
    issueType: "container_issues",
    description: "",
  });
});
