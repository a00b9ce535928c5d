import {
  array,
  enum as choice,
  type infer as Infer,
  literal,
  maxLength,
  minLength,
  nullable,
  number,
  object,
  optional,
  regex,
  strictObject,
  string,
  trim,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { containerType, currency, instant, nothing, required } from "../wire.ts";

/**
 * The environment to rent. `user_id` must be the token's subject (G5). Rules for subdomains are in rules.ts. Strict:
 * unknown fields, such as an image, a mount, a device or a variable, are refused, not ignored. The server refuses what its
 * catalogue does not offer.
 */
export const containerRequest = strictObject({
  user_id: required(128),
  container_type: containerType,
  subdomain: string().check(maxLength(64)),
  gpu_count: number(),
  duration: number(),
});

export type ContainerRequest = Infer<typeof containerRequest>;

export const createOrder = endpoint({
  method: "POST",
  path: "/docker/payments/create_order",
  auth: "bearer",
  summary: "Re-quotes, holds GPUs and name for 15 minutes and opens an order at the payment provider (G5, G35)",
  body: object({
    container_request: containerRequest,
    payment_request: object({
      /** Major units (G9); the server recomputes it and refuses a difference. */
      amount: number(),
      currency,
      user_id: required(128),
      container_request: containerRequest,
    }),
  }),
  reply: object({
    status: literal("success"),
    message: string(),
    key_id: string(),
    /** Minor units, for the provider's dialog (G9). */
    amount: number(),
    currency,
    name: string(),
    description: string(),
    /** The provider's order id. */
    id: string(),
    theme: object({ color: string() }),
    /** Timeout of the dialog in seconds; shorter than the hold. */
    timeout: optional(number()),
  }),
  errors: [
    "forbidden",
    "email_unverified",
    "account_held",
    "price_changed",
    "subdomain_taken",
    "out_of_stock",
    "too_many_gpus",
    "order_in_payment",
    "below_minimum",
    "not_prepared",
    "unavailable",
  ],
});

export const extendEnvironment = endpoint({
  method: "POST",
  path: "/environments/{id}/extend",
  auth: "bearer",
  summary: "Opens an order for more hours, which are added at once after the payment, without a restart (G86, G100)",
  body: object({
    duration: number(),
    /** Major units (G9); the server recomputes it and refuses a difference. */
    amount: number(),
    currency,
  }),
  reply: createOrder.reply,
  errors: [
    "not_found",
    "email_unverified",
    "account_held",
    "action_not_allowed",
    "price_changed",
    "order_in_payment",
    "below_minimum",
    "unavailable",
  ],
});

/** Reasons of discretionary refunds (docs/internals/money.md). */
export const refundRequestReasons = ["partial_downtime", "accidental_termination", "maintenance", "other"] as const;
export const refundTextLength = { min: 10, max: 1000 } as const;

export const refundRequest = object({
  id: string(),
  /** `silent`: opened automatically, because JupyterLab never responded while its container ran (G106). */
  reason: choice([...refundRequestReasons, "silent"]),
  text: string(),
  status: choice(["open", "granted", "declined"]),
  created_at: instant,
  decided_at: nullable(instant),
  /** The operator's reply; empty while it is open. */
  answer: string(),
});
export type RefundRequest = Infer<typeof refundRequest>;

export const askForRefund = endpoint({
  method: "POST",
  path: "/orders/{order_id}/refund-request",
  auth: "bearer",
  summary:
    "Requests a refund of a paid order from the operator, by our or the provider's id; one open request per order (G68)",
  body: object({
    reason: choice(refundRequestReasons),
    text: string().check(trim(), minLength(refundTextLength.min), maxLength(refundTextLength.max)),
  }),
  reply: object({ status: literal("success"), request: refundRequest }),
  /** Not paid, already refunded, or already requested: action_not_allowed. */
  errors: ["not_found", "action_not_allowed"],
});

const unpaidOrder = object({
  /** Ours, for `GET /orders/{order_id}`. */
  id: string(),
  /** The provider's, for `clearOrder`. */
  payment_order: string(),
  /** The environment that it extends (G100); null for a new one. */
  extends: nullable(string()),
  container_type: containerType,
  subdomain: string(),
  gpu_count: number(),
  duration_hours: number(),
  /** In major units of `currency`. */
  amount: number(),
  currency,
  /** Until then GPUs and name are held, and the same request gets the same order. */
  held_until: instant,
});
export type UnpaidOrder = Infer<typeof unpaidOrder>;

export const unpaidOrders = endpoint({
  method: "GET",
  path: "/unpaid-orders",
  auth: "bearer",
  summary: "Orders of the signed-in user that wait for their payment and hold GPUs or a name, at most one (G333)",
  body: nothing,
  reply: object({ status: literal("success"), orders: array(unpaidOrder) }),
  errors: [],
});

export const clearOrder = endpoint({
  method: "POST",
  path: "/docker/payments/clear/{order_id}",
  auth: "bearer",
  summary: "Called when the dialog is dismissed; cancels an unpaid order after a check with the provider (G13)",
  body: nothing,
  reply: object({ status: literal("success"), cleared: optional(literal([true, false])) }),
  errors: ["not_found", "unavailable"],
});

/** Replies like `createEnvironment`, because there is nothing to pay first. */
const createdEnvironment = object({
  status: choice(["active", "pending"]),
  message: string(),
  jupyter_token: string(),
  environment_id: string(),
  subdomain: string(),
});

export const launchWithCredit = endpoint({
  method: "POST",
  path: "/credits/launch",
  auth: "bearer",
  summary: "Starts an environment with the hours of codes that need no payment, and waits at most 45 s for it (G332)",
  body: object({ container_request: containerRequest }),
  reply: createdEnvironment,
  errors: [
    "forbidden",
    "not_found",
    "email_unverified",
    "account_held",
    "voucher_refused",
    "order_in_payment",
    "subdomain_taken",
    "out_of_stock",
    "too_many_gpus",
    "not_prepared",
    "not_delivered",
    "unavailable",
  ],
});

const token = (max: number) => string().check(maxLength(max), regex(/^[A-Za-z0-9_-]+$/));

export const createEnvironment = endpoint({
  method: "POST",
  path: "/docker/environment/create",
  auth: "bearer",
  summary: "Verifies a payment and waits at most 45 s for its environment (G12, G72)",
  body: object({
    container_request: containerRequest,
    payment_data: object({
      razorpay_order_id: token(64),
      razorpay_payment_id: token(64),
      razorpay_signature: string().check(maxLength(256)),
    }),
  }),
  reply: createdEnvironment,
  errors: [
    "forbidden",
    "not_found",
    "signature_mismatch",
    "request_changed",
    "payment_not_captured",
    "not_delivered",
    "unavailable",
  ],
});
