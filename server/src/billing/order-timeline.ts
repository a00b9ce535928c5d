import { type Currency, major, type OrderFact, type PaymentFailure, type RefundReason } from "@berth/contract";
import { bonusHours } from "../payments/timing.ts";
import type { Attempt, OrderSources, Refund } from "./order-detail.ts";
import { expectedBy, needsPerson, stateOf } from "./order-money.ts";

/** What happened, oldest first; what is still to come stands last. Of two things in the same instant the cause is first. */
export function timelineOf(sources: OrderSources): OrderFact[] {
  const { order, refunds, attempts } = sources;
  const currencies = new Map(attempts.map(({ id, currency }) => [id, currency]));
  const facts: OrderFact[] = [
    { kind: "ordered", at: order.created_at.toISOString() },
    ...attempts.map((attempt) => attemptFact(sources, attempt)),
    ...unpaidFacts(sources),
    ...deliveryFacts(sources),
    ...refunds.flatMap((refund) =>
      refundFacts(refund, currencies.get(refund.payment_id) ?? refund.currency, order.now),
    ),
    ...sources.credits
      .filter(({ order_id }) => order_id === order.id)
      .map(({ hours, granted_at, used_by_order }) => ({
        kind: "credited" as const,
        at: granted_at.toISOString(),
        hours,
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
  // The provider's clock counts whole seconds: an attempt may seem older than what it pays.
  const at = new Date(Math.max(Number(attempt.created_at), Number(order.created_at)));
  const paid = { amount: major(attempt.amount_minor), currency: attempt.currency as Currency, reference };
  if (status === "failed")
    return { kind: "payment_failed", at: at.toISOString(), ...paid, failure: failureOf(attempt.error_reason) };
  if (status !== "captured") return { kind: "payment_waiting", at: at.toISOString(), ...paid };
  const seen = captured_at ?? (settles_order ? order.paid_at : null) ?? at;
  return { kind: settles_order ? "paid" : "paid_again", at: seen.toISOString(), ...paid };
}

function unpaidFacts({ order: { status, closed_at } }: OrderSources): OrderFact[] {
  if (status !== "cancelled" && status !== "expired") return [];
  return [{ kind: status === "cancelled" ? "payment_closed" : "expired", at: closed_at?.toISOString() ?? null }];
}

function deliveryFacts(sources: OrderSources): OrderFact[] {
  const { order, credits, extensions } = sources;
  const { ready_at, terminated_at, ended_reason, deliver_by } = order;
  // What ended an environment that was there already is told where it was bought.
  if (order.extends !== null)
    return ["delivered", "ended", "refunded"].includes(stateOf(sources)) ? [extended(order)] : [];
  const facts: OrderFact[] = [];
  if (ready_at) {
    const at = ready_at.toISOString();
    facts.push({ kind: "delivered", at });
    if (deliver_by && ready_at > deliver_by) facts.push({ kind: "bonus", at, hours: bonusHours });
    for (const { hours, order_id } of credits.filter(({ used_by_order }) => used_by_order === order.id))
      facts.push({ kind: "credit_used", at, hours, order_id });
  }
  facts.push(...extensions.map((extension) => ({ ...extended(extension), order_id: extension.id })));
  if (terminated_at && ended_reason) {
    const kind = ended_reason === "cancelled" || ended_reason === "not_delivered" ? ended_reason : "ended";
    facts.push({ kind, at: terminated_at.toISOString(), ...(kind === "ended" && { ended: ended_reason }) });
  }
  return facts;
}

function extended({ duration_hours, paid_at }: { readonly duration_hours: number; readonly paid_at: Date | null }) {
  return { kind: "extended" as const, at: paid_at?.toISOString() ?? null, hours: duration_hours };
}

function refundFacts(refund: Refund, currency: string, now: Date): OrderFact[] {
  const { status, created_at, processed_at, arn } = refund;
  const reason = refund.reason as RefundReason;
  const about = { amount: major(refund.amount_minor), currency: currency as Currency, refund: reason };
  const expected_by = expectedBy(refund).toISOString();
  const started: OrderFact = { kind: "refund_started", at: created_at.toISOString(), ...about };
  if (status !== "processed")
    return [
      started,
      needsPerson(refund, now)
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
  // One made in the provider's dashboard is heard of when it is on its way already.
  return reason === "external" ? [sent] : [started, sent];
}

/** The provider's words (payments.md 7), as far as they mean something to who pays. */
const failures: readonly (readonly [RegExp, PaymentFailure])[] = [
  [/insufficient/, "insufficient_funds"],
  [/cancel|dropped/, "cancelled"],
  [/timed?_?out|session_expired/, "timed_out"],
  [/authenticat|otp|enrolled/, "not_authenticated"],
  [/incorrect|invalid|card_expired/, "wrong_details"],
  [/technical|server_error|gateway_error/, "technical"],
  [/declined|blocked|inactive|limit|risk|not_allowed|not_permitted/, "declined"],
];

export function failureOf(reason: string | null): PaymentFailure {
  return failures.find(([words]) => words.test(reason ?? ""))?.[1] ?? "other";
}
