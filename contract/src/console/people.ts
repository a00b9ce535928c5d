import {
  array,
  boolean,
  enum as choice,
  type infer as Infer,
  int,
  literal,
  maximum,
  minimum,
  nullable,
  number,
  object,
  string,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { statuses } from "../lifecycle.ts";
import { instant, nothing, typed } from "../wire.ts";
import { auditedAct } from "./audit.ts";
import { operatedCredit } from "./credits.ts";
import { orderStatuses } from "./orders.ts";
import { done, reason } from "./reason.ts";

/** The number of a page of a list, from 1. */
export const pageNumber = int().check(minimum(1), maximum(100_000));

const summary = object({
  user_id: string(),
  email: string(),
  name: string(),
  created_at: instant,
  environments: number(),
  paid_orders: number(),
  warnings: number(),
  suspended_at: nullable(instant),
});
export type PersonSummary = Infer<typeof summary>;

export const searchPeople = endpoint({
  method: "POST",
  path: "/operator/api/people/search",
  auth: "operator",
  summary: "Accounts by a part of their address, name or id, newest first; empty text finds all",
  body: object({ text: typed(200), page: pageNumber }),
  reply: object({ status: literal("success"), people: array(summary), total: number(), per_page: number() }),
  errors: [],
});

/** Of one currency, in minor units. */
const amount = object({ currency: string(), minor: number() });
export type Amount = Infer<typeof amount>;

/** What a suspension would do now. */
const preview = object({
  /** Environments that would stop, and with a refund end. */
  stopping: number(),
  ending: number(),
  /** Launches that were never ready end, and are paid back in any case. */
  launches: number(),
  launch_amounts: array(amount),
  unpaid_orders: number(),
  /** The unused time of the environments that would end. */
  unused_amounts: array(amount),
});
export type SuspensionPreview = Infer<typeof preview>;

const person = object({
  user_id: string(),
  email: string(),
  email_verified: boolean(),
  name: string(),
  phone: string(),
  created_at: instant,
  last_sign_in: nullable(instant),
  /** Of Berth's own sign-in. */
  second_factor: boolean(),
  passkeys: number(),
  suspended: boolean(),
  held: boolean(),
  warnings: array(object({ id: string(), warned_at: instant, reason: string() })),
  suspensions: array(object({ id: string(), suspended_at: instant, lifted_at: nullable(instant), reason: string() })),
  money: array(object({ currency: string(), paid_minor: number(), refunded_minor: number(), disputes: number() })),
  environments: array(
    object({
      id: string(),
      subdomain: string(),
      status: choice(statuses),
      host_id: string(),
      gpu_count: number(),
      expires_at: nullable(instant),
      banked_seconds: number(),
      requested_at: instant,
    }),
  ),
  orders: array(
    object({
      id: string(),
      status: choice(orderStatuses),
      subdomain: string(),
      container_type: string(),
      gpu_count: number(),
      duration_hours: number(),
      amount_minor: number(),
      currency: string(),
      created_at: instant,
    }),
  ),
  if_suspended: preview,
});
export type Person = Infer<typeof person>;

export const readPerson = endpoint({
  method: "GET",
  path: "/operator/api/people/{id}",
  auth: "operator",
  summary: "One account with its newest orders, environments and acts; nothing of what is in its files",
  body: nothing,
  reply: object({
    status: literal("success"),
    person,
    audit: array(auditedAct),
    /** Warnings that come before a suspension (G69). */
    warnings_before: number(),
    /** Every one, newest first. */
    credits: array(operatedCredit),
  }),
  errors: ["not_found"],
});

export const personActs = ["warn", "lift", "remove-factor"] as const;
export type PersonAct = (typeof personActs)[number];

export const actOnPerson = endpoint({
  method: "POST",
  path: "/operator/api/people/{id}/{act}",
  auth: "operator",
  summary:
    "Warn an account with the reason, lift its suspension, or turn its second factor off and remove its passkeys",
  values: { act: personActs },
  body: object({ reason }),
  reply: done,
  errors: ["not_found", "action_not_allowed"],
});

export const suspendPerson = endpoint({
  method: "POST",
  path: "/operator/api/people/{id}/suspend",
  auth: "operator",
  summary:
    "Suspend an account; `now` without the warnings before; `refund` ends its environments, for which its address is typed",
  body: object({ reason, now: boolean(), refund: boolean(), typed: typed(254) }),
  reply: done,
  errors: ["not_found", "action_not_allowed"],
});

export const exportPerson = endpoint({
  method: "POST",
  path: "/operator/api/people/{id}/export",
  auth: "operator",
  summary: "Everything stored about an account, as its owner could export it",
  body: object({ reason }),
  reply: object({ status: literal("success"), message: string(), name: string(), document: string() }),
  errors: ["not_found"],
});

export const makeResetLink = endpoint({
  method: "POST",
  path: "/operator/api/people/{id}/reset-link",
  auth: "operator",
  summary: "A one-time link, valid for an hour, with which the owner of an account sets a new password",
  body: object({ reason }),
  reply: object({ status: literal("success"), message: string(), link: string() }),
  errors: ["not_found", "action_not_allowed"],
});
