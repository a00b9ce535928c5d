import {
  type EndedReason,
  hoursOfCredit,
  major,
  type OrderFact,
  type PaymentFailure,
  refundReasons,
} from "@berth/contract";
import { bonusHours } from "../payments/settlement/deadlines.ts";
import { expectedBy, needsPerson, orderState } from "./order-money.ts";
import type { Attempt, Dispute, OrderSources, Refund, RefundRequest } from "./order-sources.ts";

/** Facts of an order, oldest first, pending ones last. Of two facts at the same instant the cause comes first. */
export function orderTimeline(sources: OrderSources): OrderFact[] {
  const { order, refunds, attempts } = sources;
  const facts: OrderFact[] = [
    { kind: "ordered", at: order.created_at.toISOString() },
    ...attempts.map((attempt) => attemptFact(sources, attempt)),
    ...unpaidFacts(sources),
    ...deliveryFacts(sources),
    ...sources.disputes.flatMap((dispute) => disputeFacts(sources, dispute)),
    ...sources.requests.flatMap(requestFacts),
    ...refunds.flatMap((refund) => refundFacts(sources, refund)),
    ...sources.credits
      .filter(({ order_id }) => order_id === order.id)
      .map(({ gpu_hours, granted_at, used_by_order }) => ({
        kind: "credited" as const,
        at: granted_at.toISOString(),
        hours: hoursOfCredit(gpu_hours, order.gpu_count),
        ...(used_by_order !== null && { order_id: used_by_order }),
      })),
  ];
  return facts.toSorted((a, b) => instantOf(a) - instantOf(b));
}

function instantOf({ at }: OrderFact): number {
  return at === null ? Number.POSITIVE_INFINITY : Date.parse(at);
}

function attemptFact({ order }: OrderSources, attempt: Attempt): OrderFact {
  const { status, settles_order, gateway_payment_id: reference, captured_at } = attempt;
  // The provider's times are whole seconds: an attempt may seem older than its order.
  const at = new Date(Math.max(Number(attempt.created_at), Number(order.created_at)));
  const paid = { amount: major(attempt.amount_minor), currency: attempt.currency, reference };
  if (status === "failed")
    return { kind: "payment_failed", at: at.toISOString(), ...paid, failure: failureOf(attempt.error_reason) };
  if (status !== "captured") return { kind: "payment_waiting", at: at.toISOString(), ...paid };
  const capturedAt = captured_at ?? (settles_order ? order.paid_at : null) ?? at;
  return { kind: settles_order ? "paid" : "paid_again", at: capturedAt.toISOString(), ...paid };
}

function unpaidFacts({ order: { status, closed_at } }: OrderSources): OrderFact[] {
  if (status !== "cancelled" && status !== "expired") return [];
  return [{ kind: status === "cancelled" ? "payment_closed" : "expired", at: closed_at?.toISOString() ?? null }];
}

function deliveryFacts(sources: OrderSources): OrderFact[] {
  const { order, credits, extensions } = sources;
  const { ready_at, terminated_at, ended_reason, deliver_by } = order;
  // The end of an environment that was extended is shown by the order that launched it.
  if (order.extends !== null)
    return ["delivered", "ended", "refunded"].includes(orderState(sources)) ? [extended(order)] : [];
  const facts: OrderFact[] = [];
  // A silent environment is kept as delivered, but JupyterLab had not answered.
  if (ready_at && !sources.requests.some(({ reason }) => reason === "silent")) {
    const at = ready_at.toISOString();
    facts.push({ kind: "delivered", at });
    // An order of 0 gets no bonus (G332).
    if (order.gateway !== "credit" && deliver_by && ready_at > deliver_by)
      facts.push({ kind: "bonus", at, hours: bonusHours });
    for (const { gpu_hours, order_id } of credits.filter(({ used_by_order }) => used_by_order === order.id)) {
      const hours = hoursOfCredit(gpu_hours, order.gpu_count);
      facts.push({ kind: "credit_used", at, hours, ...(order_id !== null && { order_id }) });
    }
  }
  facts.push(...extensions.map((extension) => ({ ...extended(extension), order_id: extension.id })));
  if (terminated_at && ended_reason) {
    const kind = endings[ended_reason] ?? "ended";
    facts.push({ kind, at: terminated_at.toISOString(), ...(kind === "ended" && { ended: ended_reason }) });
  }
  return facts;
}

/** End reasons of undelivered environments; all others end a delivered one. */
const endings: Partial<Record<EndedReason, "cancelled" | "not_delivered">> = {
  cancelled: "cancelled",
  not_delivered: "not_delivered",
  silent: "not_delivered",
};

function extended({ duration_hours, paid_at }: { readonly duration_hours: number; readonly paid_at: Date | null }) {
  return { kind: "extended" as const, at: paid_at?.toISOString() ?? null, hours: duration_hours };
}

function refundFacts(sources: OrderSources, refund: Refund): OrderFact[] {
  const { status, created_at, processed_at, arn } = refund;
  const about = {
    ...{ amount: major(refund.amount_minor), currency: refund.currency },
    refund: refundReasons.find((known) => known === refund.reason) ?? "external",
  };
  const expected_by = expectedBy(refund).toISOString();
  const started: OrderFact = { kind: "refund_started", at: created_at.toISOString(), ...about };
  if (status === "waived") return [started, { kind: "refund_waived", at: waivedAt(sources, refund), ...about }];
  if (status !== "processed")
    return [
      started,
      needsPerson(refund, sources)
        ? { kind: "refund_failed", at: null, ...about }
        : { kind: "refund_waiting", at: null, ...about, expected_by },
    ];
  const sent: OrderFact = {
    kind: "refund_sent",
    at: processed_at?.toISOString() ?? null,
    ...about,
    expected_by,
    ...(arn !== null && { reference: arn }),
  };
  // A refund from the provider's dashboard is recorded when it has been sent already.
  return refund.reason === "external" ? [sent] : [started, sent];
}

/** A granted request is represented by its refund. */
function requestFacts({ reason, text, created_at, status, decided_at, answer }: RefundRequest): OrderFact[] {
  const kind = reason === "silent" ? "silent" : "refund_asked";
  const asked: OrderFact = { kind, at: created_at.toISOString(), ...(kind === "refund_asked" && { text }) };
  if (status !== "declined") return [asked];
  return [asked, { kind: "refund_declined", at: decided_at?.toISOString() ?? null, text: answer }];
}

/** Time when the bank took the money of a waived refund. */
function waivedAt({ order, disputes }: OrderSources, { payment_id, created_at }: Refund): string {
  const lost = disputes.filter((dispute) => dispute.payment_id === payment_id && dispute.status === "lost");
  const at = Math.max(Number(created_at), ...lost.map(({ closed_at }) => Number(closed_at ?? order.now)));
  return new Date(at).toISOString();
}

function disputeFacts({ order }: OrderSources, dispute: Dispute): OrderFact[] {
  const { status, amount_minor, lost_minor, created_at, closed_at } = dispute;
  const currency = dispute.currency;
  // Whole seconds here too.
  const at = new Date(Math.max(Number(created_at), Number(order.paid_at))).toISOString();
  const opened: OrderFact = { kind: "dispute_opened", at, amount: major(amount_minor), currency };
  if (!closed_at) return [opened];
  const over = closed_at.toISOString();
  return status === "lost"
    ? [opened, { kind: "dispute_lost", at: over, amount: major(lost_minor), currency }]
    : [opened, { kind: "dispute_closed", at: over }];
}

/** Parts of the provider's reason codes for each kind of failure. The first match counts: the order matters. */
const reasonCodes: Readonly<Record<Exclude<PaymentFailure, "other">, readonly string[]>> = {
  insufficient_funds: ["insufficient"],
  cancelled: ["cancel", "dropped"],
  timed_out: ["timed_out", "timeout", "session_expired", "request_expired"],
  not_authenticated: ["authenticat", "otp", "enrolled"],
  wrong_details: ["incorrect", "invalid", "card_expired"],
  technical: ["technical", "server_error", "gateway_error"],
  declined: ["declined", "blocked", "inactive", "limit", "risk", "not_allowed", "not_permitted"],
};
const failures = Object.entries(reasonCodes) as [PaymentFailure, readonly string[]][];

export function failureOf(reason: string | null): PaymentFailure {
  return failures.find(([, codes]) => codes.some((code) => reason?.includes(code)))?.[0] ?? "other";
}
