import { type MoneyPlace, major, type Order, type OrderState } from "@berth/contract";
import type { Dispute, FoundOrder, OrderSources, Refund } from "./order-sources.ts";

/** The bank's processing time (G16), without Saturdays and Sundays. */
const refundBusinessDays = 5;
const dayMs = 86_400_000;
/** A refund is sent within seconds; one that is still queued after this long needs a person. */
const stuckAfterMs = 3_600_000;

/** State of the order, from its status or from the refund that ended it. */
export function orderState({ order, attempts, refunds }: OrderSources): OrderState {
  switch (order.status) {
    case "draft":
    case "open":
      return "awaiting_payment";
    case "cancelled":
      return "payment_closed";
    case "expired":
      return "expired";
    case "paid":
      return "starting";
    case "fulfilled":
      return order.terminated_at === null ? "delivered" : "ended";
    default: {
      const settling = attempts.find(({ settles_order }) => settles_order);
      const reasons = refunds.filter(({ payment_id }) => payment_id === settling?.id).map(({ reason }) => reason);
      return givenBackState(order, reasons);
    }
  }
}

function givenBackState({ extends: extended, ended_reason }: FoundOrder, reasons: readonly string[]): OrderState {
  if (reasons.includes("wrong_amount")) return "wrong_amount";
  if (reasons.includes("late_payment")) return extended === null ? "too_late" : "not_delivered";
  if (extended === null && ended_reason === "cancelled") return "cancelled";
  if (extended === null && (ended_reason === "not_delivered" || ended_reason === "silent")) return "not_delivered";
  return "refunded";
}

/** Sums every payment of the order, also duplicates and payments in another currency. */
export function orderMoney(sources: OrderSources): Order["money"] {
  const { attempts, refunds, disputes, order } = sources;
  const captured = attempts.filter(({ status }) => status === "captured");
  const currency = (captured.find(({ settles_order }) => settles_order) ?? captured[0] ?? order).currency;
  const sum = (rows: readonly { readonly amount_minor: number; readonly currency: string }[]) =>
    major(rows.filter((row) => row.currency === currency).reduce((total, { amount_minor }) => total + amount_minor, 0));
  const arrived = refunds.filter(({ status }) => status === "processed");
  const last = arrived.toSorted((a, b) => Number(b.processed_at) - Number(a.processed_at))[0];
  return {
    place: placeOf(sources),
    currency,
    charged: sum(captured),
    refunding: sum(refunds.filter(isOwed)),
    refunded: sum(arrived),
    disputed: sum(
      disputes
        .filter((dispute) => isOpen(dispute) || dispute.status === "lost")
        .map((dispute) => (dispute.status === "lost" ? { ...dispute, amount_minor: dispute.lost_minor } : dispute)),
    ),
    expected_by: last ? expectedBy(last).toISOString() : null,
  };
}

function placeOf(sources: OrderSources): MoneyPlace {
  const { order, attempts, refunds, disputes } = sources;
  const captured = attempts.filter(({ status }) => status === "captured");
  if (captured.length === 0) {
    const underway = attempts.some(({ status }) => status === "created" || status === "authorized");
    // The provider refunds uncaptured payments by itself after that time (docs/internals/money.md).
    return underway && order.now < order.watch_until ? "being_checked" : "nothing_taken";
  }
  if (disputes.some(isOpen)) return "disputed";
  if (refunds.some((refund) => needsPerson(refund, sources))) return "needs_person";
  if (refunds.some(isOwed)) return "refund_started";
  if (disputes.some(({ status }) => status === "lost")) return "taken_back";
  if (refunds.some(({ status }) => status === "processed"))
    return captured.every(({ refund_minor, amount_minor }) => refund_minor === amount_minor)
      ? "refunded"
      : "partly_refunded";
  return order.status === "paid" ? "held" : "delivered";
}

/** Under way, or failed and to be retried; waived refunds are not owed, because a bank took the money. */
function isOwed({ status }: Refund): boolean {
  return status !== "processed" && status !== "waived";
}

function isOpen({ status }: Dispute): boolean {
  return status === "open" || status === "under_review";
}

/** A refund that waits for a dispute of its payment is not stuck; its hour begins with the decision. */
export function needsPerson(refund: Refund, { order, disputes }: OrderSources): boolean {
  if (refund.status === "failed") return true;
  const own = disputes.filter(({ payment_id }) => payment_id === refund.payment_id);
  if (refund.status !== "queued" || own.some(isOpen)) return false;
  const since = Math.max(Number(refund.created_at), ...own.map(({ closed_at }) => Number(closed_at)));
  return Number(order.now) - since > stuckAfterMs;
}

/** Expected arrival: five business days after it was sent, or created. */
export function expectedBy({ processed_at, created_at }: Pick<Refund, "processed_at" | "created_at">): Date {
  const at = new Date(processed_at ?? created_at);
  for (let left = refundBusinessDays; left > 0; ) {
    at.setTime(at.getTime() + dayMs);
    if (at.getUTCDay() % 6 !== 0) left -= 1;
  }
  return at;
}
