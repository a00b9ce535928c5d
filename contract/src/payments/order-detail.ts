import {
  array,
  boolean,
  enum as choice,
  type infer as Infer,
  literal,
  nullable,
  number,
  object,
  optional,
  string,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { endedReasons } from "../lifecycle.ts";
import { containerType, currency, instant, nothing } from "../wire.ts";

/** Where the money of an order is. Extends `MoneyState` (G14). */
export const moneyPlaces = [
  "nothing_taken",
  "being_checked",
  /** Paid, and the environment is starting. */
  "held",
  "delivered",
  "refund_started",
  /** Refunded in full. */
  "refunded",
  "partly_refunded",
  /** A refund failed, or could not be sent within the hour. */
  "needs_person",
  /** An open dispute. */
  "disputed",
  /** A lost dispute, in full or in part. */
  "taken_back",
] as const;
export type MoneyPlace = (typeof moneyPlaces)[number];

export const orderStates = [
  "awaiting_payment",
  "payment_closed",
  "expired",
  "starting",
  "delivered",
  "ended",
  "cancelled",
  "not_delivered",
  "too_late",
  "wrong_amount",
  "refunded",
] as const;
export type OrderState = (typeof orderStates)[number];

/** Why a payment failed; maps the provider's many reasons to a few. */
export const paymentFailures = [
  "insufficient_funds",
  "declined",
  "not_authenticated",
  "wrong_details",
  "cancelled",
  "timed_out",
  "technical",
  "other",
] as const;
export type PaymentFailure = (typeof paymentFailures)[number];

export const refundReasons = [
  "not_delivered",
  /** JupyterLab did not respond while its container ran: refunded automatically once per account (G106). */
  "silent",
  "cancelled",
  "late_payment",
  "surplus_payment",
  "wrong_amount",
  "hardware",
  /** Granted by an operator. */
  "discretionary",
  "external",
] as const;
export type RefundReason = (typeof refundReasons)[number];

export const orderFacts = [
  "ordered",
  "payment_failed",
  "payment_waiting",
  "payment_closed",
  "expired",
  "paid",
  "paid_again",
  "delivered",
  "bonus",
  "credit_used",
  "extended",
  "cancelled",
  "not_delivered",
  /** Stopped again because JupyterLab was silent, with its time banked; an operator decides about a refund. */
  "silent",
  "ended",
  "refund_started",
  "refund_waiting",
  "refund_failed",
  "refund_sent",
  "refund_waived",
  "credited",
  "refund_asked",
  "refund_declined",
  "dispute_opened",
  "dispute_closed",
  "dispute_lost",
] as const;

/** One event of an order or its money. Amounts in major units of `currency`. */
const orderFact = object({
  kind: choice(orderFacts),
  /** Null: not yet. */
  at: nullable(instant),
  amount: optional(number()),
  currency: optional(currency),
  hours: optional(number()),
  failure: optional(choice(paymentFailures)),
  refund: optional(choice(refundReasons)),
  ended: optional(choice(endedReasons)),
  /** The provider's id of a payment, or the bank's reference (ARN) of a refund. */
  reference: optional(string()),
  /** Expected arrival of a refund (4-5 business days, G16). */
  expected_by: optional(instant),
  /** Text of the user's refund request, or of the operator who declined it. */
  text: optional(string()),
  /** A related order: an extension, or the one that used a credit. */
  order_id: optional(string()),
});
export type OrderFact = Infer<typeof orderFact>;

export const orderShape = object({
  id: string(),
  state: choice(orderStates),
  container_type: containerType,
  subdomain: string(),
  gpu_count: number(),
  duration_hours: number(),
  /** Extends an existing environment (G100). */
  extends: boolean(),
  ordered_at: instant,
  /** In USD (G7). */
  list_price: number(),
  /** The price in `currency`. */
  amount: number(),
  currency,
  /** Units of `currency` for one dollar, frozen with the order (G7); null if paid in USD. */
  rate: nullable(number()),
  /** The same for an order in rupees, else null. */
  inr_per_usd: nullable(number()),
  /** "Visa ending in 1111", "UPI, ad***@okaxis" (G367). */
  paid_with: nullable(string()),
  /** Of its money, or of a payment under way: card, upi, netbanking, wallet or another of the provider; null: none, or several (G366). */
  method: nullable(string()),
  /** No real money. */
  test_mode: boolean(),
  money: object({
    place: choice(moneyPlaces),
    currency,
    /** All captured payments, duplicates included. */
    charged: number(),
    /** Refunds in progress, or failed and still owed. */
    refunding: number(),
    refunded: number(),
    /** Amount of open and lost disputes. */
    disputed: number(),
    /** Expected arrival of the last refund. */
    expected_by: nullable(instant),
  }),
  /** Oldest first; future events last. */
  timeline: array(orderFact),
  /** Reference numbers for support and banks (G70). */
  references: object({
    /** The environment that it launched or extended; null if there is none. */
    environment: nullable(string()),
    invoice: nullable(string()),
    payment: nullable(string()),
    session: nullable(string()),
    /** Bank references of refunds, newest first. */
    bank: array(string()),
  }),
  /** Invoice numbers with a receipt; the settling payment first. */
  receipts: array(string()),
  /** One for each processed refund, oldest first. */
  credit_notes: array(string()),
  /** Delivered, with an amount left to refund, and without an open request (docs/internals/money.md). */
  may_ask_refund: boolean(),
});
export type Order = Infer<typeof orderShape>;

export const orderDetail = endpoint({
  method: "GET",
  path: "/orders/{order_id}",
  auth: "bearer",
  summary:
    "One order with its timeline and its money (G14, G16, G70). `order_id` is ours, or the provider's as returned by create_order",
  body: nothing,
  reply: object({ status: literal("success"), order: orderShape }),
  errors: ["not_found"],
});
