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
import { instant, nothing, typed } from "../wire.ts";
import { auditedAct } from "./audit.ts";
import { pageNumber } from "./people.ts";
import { done, reason } from "./reason.ts";

const ticket = object({
  id: string(),
  code: string(),
  issue_type: string(),
  description: string(),
  email: string(),
  user_id: string(),
  created_at: instant,
  answered_at: nullable(instant),
  closed_at: nullable(instant),
});
export type Ticket = Infer<typeof ticket>;

export const searchTickets = endpoint({
  method: "POST",
  path: "/operator/api/tickets/search",
  auth: "operator",
  summary: "Open tickets, oldest first; with `all` every ticket, newest first",
  body: object({ all: boolean(), page: pageNumber }),
  reply: object({ status: literal("success"), tickets: array(ticket), total: number(), per_page: number() }),
  errors: [],
});

const answer = object({ id: string(), text: string(), answered_at: instant });

export const readTicket = endpoint({
  method: "GET",
  path: "/operator/api/tickets/{id}",
  auth: "operator",
  summary: "One ticket with its answers",
  body: nothing,
  reply: object({ status: literal("success"), ticket, answers: array(answer), audit: array(auditedAct) }),
  errors: ["not_found"],
});

/** The longest answer to a ticket. */
export const longestAnswer = 4000;

export const answerTicket = endpoint({
  method: "POST",
  path: "/operator/api/tickets/{id}/answer",
  auth: "operator",
  summary: "Answer a ticket by bell and mail",
  body: object({ text: typed(longestAnswer), reason }),
  reply: done,
  errors: ["not_found"],
});

export const closeTicket = endpoint({
  method: "POST",
  path: "/operator/api/tickets/{id}/close",
  auth: "operator",
  summary: "Close a ticket that needs no answer here; nobody is notified",
  body: object({ reason }),
  reply: done,
  errors: ["not_found"],
});

/** Everybody with an account, or who has an environment that has not ended. */
export const audiences = ["all", "renters"] as const;
export type Audience = (typeof audiences)[number];

const receivers = object({
  accounts: number(),
  /** Those of them who would get a mail. */
  mails: number(),
});

const announcement = object({
  id: string(),
  title: string(),
  body: string(),
  audience: string(),
  by_mail: boolean(),
  created_at: instant,
  /** Accounts so far. */
  notified: number(),
  is_done: boolean(),
});
export type SentAnnouncement = Infer<typeof announcement>;

export const readAnnouncements = endpoint({
  method: "GET",
  path: "/operator/api/announcements",
  auth: "operator",
  summary: "The newest announcements, and whom a new one would reach",
  body: nothing,
  reply: object({
    status: literal("success"),
    announcements: array(announcement),
    receivers: object({ all: receivers, renters: receivers }),
  }),
  errors: [],
});

export const longestTitle = 100;
export const longestAnnouncement = 2000;

export const announce = endpoint({
  method: "POST",
  path: "/operator/api/announcements",
  auth: "operator",
  summary: "Notify everybody or those who rent now by bell, and by mail where they want that",
  body: object({
    title: typed(longestTitle),
    text: typed(longestAnnouncement),
    audience: choice(audiences),
    by_mail: boolean(),
    reason,
  }),
  reply: done,
  errors: ["action_not_allowed"],
});
