import {
  array,
  enum as choice,
  type infer as Infer,
  int,
  iso,
  literal,
  maximum,
  minimum,
  nullable,
  number,
  object,
  string,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { creditSources } from "../payments/billing.ts";
import { instant, nothing, typed } from "../wire.ts";
import { done, reason } from "./reason.ts";

/** The most that one credit has, and the most codes that are made together. */
export const mostHours = 1000;
export const mostGpus = 64;
export const mostCodes = 1000;

/** The longest list of credits, and of kinds of vouchers. */
export const creditsListed = 500;

const upTo = (most: number) => int().check(minimum(1), maximum(most));

export const operatedCredit = object({
  id: string(),
  user_id: string(),
  /** Null: the account was deleted. */
  email: nullable(string()),
  gpu_hours: number(),
  source: choice(creditSources),
  /** Why it was given; may be empty. */
  note: string(),
  granted_at: instant,
  state: choice(["open", "used", "revoked"]),
  used_by_order: nullable(string()),
});
export type OperatedCredit = Infer<typeof operatedCredit>;

const voucherKind = object({
  id: string(),
  gpu_hours: number(),
  codes: number(),
  redeemed: number(),
  revoked: number(),
  /** Null: no limit. */
  per_month: nullable(number()),
  expires_at: nullable(instant),
  created_at: instant,
  reason: string(),
});
export type VoucherKind = Infer<typeof voucherKind>;

export const readCredits = endpoint({
  method: "GET",
  path: "/operator/api/credits",
  auth: "operator",
  summary: "The open credits of every account and the kinds of vouchers, newest first",
  body: nothing,
  reply: object({ status: literal("success"), credits: array(operatedCredit), vouchers: array(voucherKind) }),
  errors: [],
});

export const grantCredit = endpoint({
  method: "POST",
  path: "/operator/api/people/{id}/credit",
  auth: "operator",
  summary: "Grant an account so many hours with so many GPUs; its owner reads the reason",
  body: object({ hours: upTo(mostHours), gpus: upTo(mostGpus), reason }),
  reply: done,
  errors: ["not_found"],
});

export const revokeCredit = endpoint({
  method: "POST",
  path: "/operator/api/credits/{id}/revoke",
  auth: "operator",
  summary: "Take back a granted credit that is not used; its owner reads the reason",
  body: object({ reason }),
  reply: done,
  errors: ["not_found", "action_not_allowed"],
});

export const createVouchers = endpoint({
  method: "POST",
  path: "/operator/api/vouchers",
  auth: "operator",
  summary: "Make codes of one kind; this reply alone has them",
  body: object({
    hours: upTo(mostHours),
    gpus: upTo(mostGpus),
    count: upTo(mostCodes),
    /** How many can be redeemed in a calendar month (UTC); null: no limit. */
    per_month: nullable(upTo(mostCodes)),
    /** The last day (UTC) on which they can be redeemed; null: no end. */
    last_day: nullable(iso.date()),
    reason,
  }),
  reply: object({ status: literal("success"), message: string(), id: string(), codes: array(string()) }),
  errors: [],
});

/** A code is a secret, so it is in the body and in no address. */
export const revokeVouchers = endpoint({
  method: "POST",
  path: "/operator/api/vouchers/revoke",
  auth: "operator",
  summary: "Make one code void, or by the id of its kind every code that is not redeemed; credits stay",
  body: object({ voucher: typed(100), reason }),
  reply: done,
  errors: ["not_found", "action_not_allowed"],
});
