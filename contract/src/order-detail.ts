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
import { endpoint } from "./endpoint.ts";
import { endedReasons } from "./lifecycle.ts";
import { currencies } from "./pricing.ts";
import { containerTypes, instant, nothing } from "./wire.ts";

/** Where the money of one order is. The words of `MoneyState` (G14) where they mean the same, and what comes after them. */
export const moneyPlaces = [
  "nothing_taken",
  "being_checked",
  /** Paid, and the environment is starting. */
  "held",
  "delivered",
  "refund_started",
  /** All of it left us for the card. */
  "refunded",
  "partly_refunded",
  /** A refund failed, or could not be sent within the hour. */
  "needs_person",
  /** The card holder's bank asks for it back, and has not decided. */
  "disputed",
  /** That bank took it, or a part of it. */
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

/** Why a payment failed: the provider's many words as few of ours. */
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
  /** JupyterLab did not answer while its container ran: paid back by itself once for each account (G106). */
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
  /** It was stopped for that again, with its time banked; a person decides about its money. */
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

/** One thing that happened to an order or its money; what it is not about is absent. Money in major units of `currency`. */
const orderFact = object({
  kind: choice(orderFacts),
  /** Null: not yet. */
  at: nullable(instant),
  amount: optional(number()),
  currency: optional(choice(currencies)),
  hours: optional(number()),
  failure: optional(choice(paymentFailures)),
  refund: optional(choice(refundReasons)),
  ended: optional(choice(endedReasons)),
  /** The provider's id of a payment, or the bank's reference (ARN) of a refund. */
  reference: optional(string()),
  /** Of a refund: the card should have it by then (4-5 business days, G16). */
  expected_by: optional(instant),
  /** What a person wrote: who asked for a refund, or who declined it. */
  text: optional(string()),
  /** The other order that it is about: one that added hours, or used those that were owed. */
  order_id: optional(string()),
});
export type OrderFact = Infer<typeof orderFact>;

const order = object({
  id: string(),
  state: choice(orderStates),
  container_type: choice(containerTypes),
  subdomain: string(),
  gpu_count: number(),
  duration_hours: number(),
  /** More hours for an environment that was there already (G100). */
  extends: boolean(),
  ordered_at: instant,
  /** In USD (G7). */
  list_price: number(),
  /** What was to be paid, in `currency`. */
  amount: number(),
  currency: choice(currencies),
  /** Frozen with the order (G7); null where it was paid in USD. */
  inr_per_usd: nullable(number()),
  /** "Visa ending in 1111". */
  paid_with: nullable(string()),
  /** No money moves. */
  test_mode: boolean(),
  money: object({
    place: choice(moneyPlaces),
    currency: choice(currencies),
    /** All that was taken, a second payment of the same order too. */
    charged: number(),
    /** Asked for and not arrived: on its way, or failed and still owed. */
    refunding: number(),
    refunded: number(),
    /** What a bank asks for, or took. */
    disputed: number(),
    /** Of the last refund that was sent: the card should have it by then. */
    expected_by: nullable(instant),
  }),
  /** Oldest first, what is still to come last. */
  timeline: array(orderFact),
  /** What support, the bank and a refund ask for (G70). */
  references: object({
    /** The environment that it launched, or added hours to; null where none ever began. */
    environment: nullable(string()),
    invoice: nullable(string()),
    payment: nullable(string()),
    session: nullable(string()),
    /** Bank references of refunds, newest first. */
    bank: array(string()),
  }),
  /** Invoice numbers that have a receipt: of what bought the order first. */
  receipts: array(string()),
  /** One for each refund that has gone back, oldest first. */
  credit_notes: array(string()),
  /** Delivered, with money left, and nothing asked for that is not answered yet (docs/internals/money.md). */
  may_ask_refund: boolean(),
});
export type Order = Infer<typeof order>;

export const orderDetail = endpoint({
  method: "GET",
  path: "/orders/{order_id}",
  auth: "bearer",
  summary:
    "One order: what was bought, what happened, and where its money is (G14, G16, G70). `order_id` is ours, or the provider's as create_order answers it",
  body: nothing,
  reply: object({ status: literal("success"), order }),
  errors: ["not_found"],
});
