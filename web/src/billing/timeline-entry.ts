import type { Order, OrderFact } from "@berth/contract";
import { endedTexts, failureTexts, refundTexts } from "../content/order-texts.ts";
import { date, duration, plural } from "../format.ts";
import { amountText } from "./statement.ts";

export interface TimelineEntry {
  readonly title: string;
  readonly text: string;
  /** The colour of the mark. */
  readonly state: "done" | "failed" | "running";
  /** The kind of the fact's reference, if it has one. */
  readonly reference?: string;
}

/** The text of one fact. */
export function timelineEntry(fact: OrderFact, order: Order): TimelineEntry {
  const sum = fact.amount === undefined ? "" : amountText(fact.amount, fact.currency);
  const hours = fact.hours === undefined ? "" : hoursText(fact.hours);
  const by = fact.expected_by === undefined ? "" : date(fact.expected_by);
  const { kind } = fact;
  if (isDecision(kind)) return decisionEntry(kind, fact.text, sum);
  switch (kind) {
    case "ordered":
      return done("Ordered", `${amountText(order.amount, order.currency)} for ${plural(order.duration_hours, "hour")}`);
    case "payment_failed":
      return {
        title: "Payment failed",
        text: `${failureTexts[fact.failure ?? "other"]} Nothing was charged.`,
        state: "failed",
        reference: "payment reference",
      };
    case "payment_waiting":
      return running("Payment begun", `${sum}, waiting for your bank's answer`, "payment reference");
    case "payment_closed":
      return done("Closed", "No payment had come by then.");
    case "expired":
      return done("Not paid in time", "The order was closed.");
    case "paid":
      return done("Paid", `${sum}${order.paid_with === null ? "" : `, ${order.paid_with}`}`);
    case "paid_again":
      return done("Paid once more", `${sum}; it buys nothing and goes back`, "payment reference");
    case "delivered":
      return done("Ready", "JupyterLab answered; the paid time runs from here.");
    case "bonus":
      return done(`${hours} added`, "It took longer than ten minutes.");
    case "credit_used":
      return done(`${hours} added`, "They were owed to you.");
    case "extended":
      return done(
        `${hours} added`,
        fact.order_id === undefined ? "Nothing was restarted." : "Paid with an order of its own.",
      );
    case "cancelled":
      return done("Cancelled", "You cancelled the launch.");
    case "not_delivered":
      return { title: "Not delivered", text: "JupyterLab did not answer in time.", state: "failed" };
    case "ended":
      return done("Ended", endedTexts[fact.ended ?? "expired"]);
    case "refund_started":
      return done("Refund started", `${sum}: ${refundTexts[fact.refund ?? "external"]}`);
    case "refund_waiting":
      return running("With the payment provider", `${sum}, on your card by ${by}`);
    case "refund_failed":
      return { title: "Did not go through", text: `${sum} is still owed to you`, state: "failed" };
    case "refund_sent":
      return done("Sent to your bank", `${sum}, on your card by ${by}`, "bank reference");
    case "refund_waived":
      return done("Refund not sent", `${sum}: your bank took the money itself`);
    case "credited":
      return done(
        `${hours} owed to you`,
        fact.order_id === undefined
          ? "Your next environment with as many GPUs runs that much longer."
          : "Added to a later environment.",
      );
  }
}

/** Owed GPU-hours may be a fraction of an hour with more GPUs. */
function hoursText(hours: number): string {
  return Number.isInteger(hours) ? plural(hours, "hour") : duration(hours * 3600);
}

const decisions = [
  "silent",
  "refund_asked",
  "refund_declined",
  "dispute_opened",
  "dispute_closed",
  "dispute_lost",
] as const;
type Decision = (typeof decisions)[number];

function isDecision(kind: OrderFact["kind"]): kind is Decision {
  return decisions.some((decision) => decision === kind);
}

/** Requests and decisions of people and banks. */
function decisionEntry(kind: Decision, text: string | undefined, sum: string): TimelineEntry {
  const quoted = text ? `“${text}”` : "";
  switch (kind) {
    case "silent":
      return {
        title: "Stopped: JupyterLab did not answer",
        text: "Its container ran for ten minutes. The time is kept for another start, and we look at this payment.",
        state: "failed",
      };
    case "dispute_opened":
      return done("Disputed by your bank", `${sum} is asked for`);
    case "dispute_closed":
      return done("Dispute closed", "The payment stands.");
    case "dispute_lost":
      return done("Taken back by your bank", sum);
    case "refund_asked":
      return done("You asked for a refund", quoted);
    case "refund_declined":
      return done("Not granted", quoted);
  }
}

function done(title: string, text: string, reference?: string): TimelineEntry {
  return { title, text, state: "done", ...(reference !== undefined && { reference }) };
}

function running(title: string, text: string, reference?: string): TimelineEntry {
  return { ...done(title, text, reference), state: "running" };
}

/** A longer row of failed attempts is folded, except the last. */
const mostInRow = 3;

/** The timeline with long rows of failed attempts folded: a list stands for all of a row but the last. */
export function foldAttempts(timeline: readonly OrderFact[]): readonly (OrderFact | readonly OrderFact[])[] {
  const drawn: (OrderFact | readonly OrderFact[])[] = [];
  for (let from = 0; from < timeline.length; ) {
    const end = timeline.findIndex(({ kind }, index) => index >= from && kind !== "payment_failed");
    const row = timeline.slice(from, end === -1 ? timeline.length : end);
    const hidden = row.length > mostInRow ? row.slice(0, -1) : [];
    if (hidden.length > 0) drawn.push(hidden);
    drawn.push(...row.slice(hidden.length));
    from += row.length;
    const next = timeline[from];
    if (next) drawn.push(next);
    from += 1;
  }
  return drawn;
}
