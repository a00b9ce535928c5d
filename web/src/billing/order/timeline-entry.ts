import { type Order, type OrderFact, payingAccount, plural } from "@berth/contract";
import { endedTexts, failureTexts, refundTexts } from "../../content/order-texts.ts";
import { date, hoursText } from "../../format.ts";
import { amountText } from "../statement.ts";

export interface TimelineEntry {
  readonly title: string;
  readonly text: string;
  /** The color of the mark. */
  readonly state: "done" | "failed" | "running";
  /** The kind of the fact's reference, if it has one. */
  readonly reference?: string;
}

/** The text of one fact. */
export function timelineEntry(fact: OrderFact, order: Order): TimelineEntry {
  return entries[fact.kind]({
    fact,
    order,
    sum: fact.amount === undefined ? "" : amountText(fact.amount, fact.currency),
    hours: fact.hours === undefined ? "" : hoursText(fact.hours),
    by: fact.expected_by === undefined ? "" : date(fact.expected_by),
    quoted: fact.text ? `“${fact.text}”` : "",
  });
}

interface Details {
  readonly fact: OrderFact;
  readonly order: Order;
  readonly sum: string;
  readonly hours: string;
  readonly by: string;
  /** A text that a person wrote. */
  readonly quoted: string;
}

const entries: Readonly<Record<OrderFact["kind"], (details: Details) => TimelineEntry>> = {
  ordered: ({ order }) =>
    done(
      "Ordered",
      order.amount === 0
        ? "A code covers it."
        : `${amountText(order.amount, order.currency)} for ${plural(order.duration_hours, "hour")}`,
    ),
  payment_failed: ({ fact }) =>
    failed("Payment failed", `${failureTexts[fact.failure ?? "other"]} Nothing was charged.`, "payment reference"),
  payment_waiting: ({ order, sum }) =>
    running(
      "Payment begun",
      `${sum}, waiting for ${order.method === "upi" ? "your approval in your UPI app" : "your bank's answer"}`,
      "payment reference",
    ),
  payment_closed: () => done("Closed", "No payment had come by then."),
  expired: () => done("Not paid in time", "The order was closed."),
  paid: ({ order, sum }) => done("Paid", `${sum}${order.paid_with === null ? "" : `, ${order.paid_with}`}`),
  paid_again: ({ sum }) => done("Paid once more", `${sum}; it buys nothing and goes back`, "payment reference"),
  delivered: () => done("Ready", "JupyterLab answered; the paid time runs from here."),
  bonus: ({ hours }) => done(`${hours} added`, "It took longer than ten minutes."),
  // An order of 0 has no hours but those of its credits (G332).
  credit_used: ({ fact, order, hours }) =>
    done(
      order.amount === 0 ? `${hours} of yours` : `${hours} added`,
      fact.order_id === undefined ? "They came from a credit." : "They were owed to you.",
    ),
  extended: ({ fact, hours }) =>
    done(`${hours} added`, fact.order_id === undefined ? "Nothing was restarted." : "Paid with an order of its own."),
  cancelled: () => done("Cancelled", "You cancelled the launch."),
  not_delivered: () => failed("Not delivered", "It was not ready in time."),
  silent: () =>
    failed(
      "Stopped: JupyterLab did not answer",
      "Its container ran for ten minutes. The time is kept for another start, and we look at this payment.",
    ),
  ended: ({ fact }) => done("Ended", endedTexts[fact.ended ?? "expired"]),
  refund_asked: ({ quoted }) => done("You asked for a refund", quoted),
  refund_declined: ({ quoted }) => done("Not granted", quoted),
  refund_started: ({ fact, sum }) => done("Refund started", `${sum}: ${refundTexts[fact.refund ?? "external"]}`),
  refund_waiting: ({ order, sum, by }) =>
    running("With the payment provider", `${sum}, ${payingAccount(order.method).at} by ${by}`),
  refund_failed: ({ sum }) => failed("Did not go through", `${sum} is still owed to you`),
  refund_sent: ({ order, sum, by }) =>
    done("Sent to your bank", `${sum}, ${payingAccount(order.method).at} by ${by}`, "bank reference"),
  refund_waived: ({ sum }) => done("Refund not sent", `${sum}: your bank took the money itself`),
  dispute_opened: ({ sum }) => done("Disputed by your bank", `${sum} is asked for`),
  dispute_closed: () => done("Dispute closed", "The payment stands."),
  dispute_lost: ({ sum }) => done("Taken back by your bank", sum),
  credited: ({ fact, hours }) =>
    done(
      `${hours} owed to you`,
      fact.order_id === undefined
        ? "Your next environment that is as large runs that much longer."
        : "Added to a later environment.",
    ),
};

function done(title: string, text: string, reference?: string): TimelineEntry {
  return { title, text, state: "done", ...(reference !== undefined && { reference }) };
}

function failed(title: string, text: string, reference?: string): TimelineEntry {
  return { ...done(title, text, reference), state: "failed" };
}

function running(title: string, text: string, reference?: string): TimelineEntry {
  return { ...done(title, text, reference), state: "running" };
}

/** Longer rows of failed attempts are folded, except for the last. */
const mostInRow = 3;

/** Folds long rows of failed attempts into a list, except for the last. */
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
