import {
  array,
  boolean,
  enum as choice,
  type infer as Infer,
  literal,
  nullable,
  number,
  object,
  string,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { orderShape } from "../payments/order-detail.ts";
import { refundRequestReasons } from "../payments/orders.ts";
import { containerType, currency, instant, nothing, typed } from "../wire.ts";
import { auditedAct } from "./audit.ts";
import { done, reason } from "./reason.ts";

export const orderStatuses = [
  "draft",
  "open",
  "cancelled",
  "expired",
  "paid",
  "fulfilled",
  "refunding",
  "refunded",
] as const;

const listedOrder = object({
  id: string(),
  created_at: instant,
  status: choice(orderStatuses),
  /** Null: the account was deleted. */
  email: nullable(string()),
  user_id: string(),
  subdomain: string(),
  container_type: containerType,
  gpu_count: number(),
  duration_hours: number(),
  /** Minor units of `currency`. */
  amount_minor: number(),
  refund_minor: number(),
  currency,
});
export type ListedOrder = Infer<typeof listedOrder>;

export const ordersPerPage = 50;

/** A search is a POST, so that ids and addresses stay out of the logs of proxies. */
export const searchOrders = endpoint({
  method: "POST",
  path: "/operator/api/orders/search",
  auth: "operator",
  summary: "Orders by an id, a receipt's number, a name or the owner's address, newest first; empty text finds all",
  body: object({
    text: typed(320),
    /** Id of the last order of the page before; empty for the first page. */
    before: typed(64),
  }),
  reply: object({ status: literal("success"), orders: array(listedOrder), more: boolean() }),
  errors: [],
});

const askedFor = choice([...refundRequestReasons, "silent"]);

const refundRequest = object({
  order_id: string(),
  subdomain: string(),
  user_id: string(),
  email: nullable(string()),
  reason: askedFor,
  text: string(),
  created_at: instant,
  currency,
  amount_minor: number(),
  refund_minor: number(),
  /** The share of the time that is not used, now. */
  prorated_minor: number(),
});
export type WaitingRefund = Infer<typeof refundRequest>;

export const readRefundRequests = endpoint({
  method: "GET",
  path: "/operator/api/refund-requests",
  auth: "operator",
  summary: "Who waits for the decision about a refund, oldest first",
  body: nothing,
  reply: object({ status: literal("success"), requests: array(refundRequest) }),
  errors: [],
});

const dispute = object({
  gateway_dispute_id: string(),
  phase: string(),
  reason_code: nullable(string()),
  amount_minor: number(),
  currency,
  order_id: string(),
  subdomain: string(),
  email: nullable(string()),
  user_id: string(),
  /** The last day on which the bank takes an answer. */
  respond_by: nullable(instant),
});
export type OpenDispute = Infer<typeof dispute>;

export const readOpenDisputes = endpoint({
  method: "GET",
  path: "/operator/api/disputes",
  auth: "operator",
  summary: "Disputes that are open, the next to respond to first",
  body: nothing,
  reply: object({ status: literal("success"), disputes: array(dispute) }),
  errors: [],
});

const operatedOrder = object({
  status: literal("success"),
  /** As its owner sees it. */
  order: orderShape,
  owner: object({ id: string(), email: nullable(string()) }),
  /** Waits for a decision. */
  request: nullable(object({ reason: askedFor, text: string(), created_at: instant })),
  acts: array(auditedAct),
});
export type OperatedOrder = Infer<typeof operatedOrder>;

export const readOperatedOrder = endpoint({
  method: "GET",
  path: "/operator/api/orders/{id}",
  auth: "operator",
  summary: "One order with its timeline, its money and what operators did; the id is ours or the provider's",
  body: nothing,
  reply: operatedOrder,
  errors: ["not_found"],
});

const refundChoice = object({
  minor: number(),
  /** What happens to each paid order of the environment, and to its remaining time; a sentence each. */
  consequences: array(string()),
});

const refundChoices = object({
  status: literal("success"),
  currency,
  paid_minor: number(),
  /** To be named by the refund, which is refused when it is another by then. */
  refunded_minor: number(),
  used_seconds: number(),
  total_seconds: number(),
  /** Whether the clock runs, so that less is left later. */
  runs: boolean(),
  full: refundChoice,
  /** Null where no time is left. */
  prorated: nullable(refundChoice),
});
export type RefundChoices = Infer<typeof refundChoices>;

export const previewRefund = endpoint({
  method: "POST",
  path: "/operator/api/orders/{id}/refund/preview",
  auth: "operator",
  summary: "What a refund would give back now; nothing is done",
  body: nothing,
  reply: refundChoices,
  errors: ["not_found", "action_not_allowed"],
});

export const refundShares = ["prorated", "full", "amount"] as const;
export type RefundShare = (typeof refundShares)[number];

/** The longest text to a customer. */
export const longestWords = 1000;

export const refundOrder = endpoint({
  method: "POST",
  path: "/operator/api/orders/{id}/refund",
  auth: "operator",
  summary:
    "Refund an order, requested or not; the environment's name is typed, because money that left does not return",
  body: object({
    share: choice(refundShares),
    /** Counts for the share `amount` only. */
    minor: number(),
    /** As shown by the preview: another sum is refused. */
    refunded_minor: number(),
    words: typed(longestWords),
    reason,
    typed: typed(64),
  }),
  reply: done,
  errors: ["not_found", "action_not_allowed"],
});

export const declineRefund = endpoint({
  method: "POST",
  path: "/operator/api/orders/{id}/decline",
  auth: "operator",
  summary: "Decline a refund request with words to the customer",
  body: object({ words: typed(longestWords), reason }),
  reply: done,
  errors: ["not_found", "action_not_allowed"],
});

export const sendReceiptAgain = endpoint({
  method: "POST",
  path: "/operator/api/orders/{id}/receipt",
  auth: "operator",
  summary: "Mail the receipt of an order again",
  body: object({ reason }),
  reply: done,
  errors: ["not_found"],
});
