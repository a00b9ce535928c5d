import {
  array,
  boolean,
  enum as choice,
  type infer as Infer,
  literal,
  maxLength,
  minLength,
  object,
  optional,
  string,
  trim,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { nothing, typed } from "../wire.ts";

/** Spec 3.8. */
export const issueTypes = [
  "container_issues",
  "payment_issues",
  "performance_issues",
  "account_access",
  "billing_questions",
  "feature_request",
  "technical_support",
  "other",
] as const;
export type IssueType = (typeof issueTypes)[number];

export const maxSupportText = 1000;

export const openTicket = endpoint({
  method: "POST",
  path: "/support/tickets",
  auth: "bearer",
  summary: "Saves a ticket; the chat hand-off works without it (G59)",
  body: object({
    issueType: choice(issueTypes),
    description: string().check(trim(), minLength(1), maxLength(maxSupportText)),
    userEmail: typed(254),
    userId: typed(128),
    /** The code the page shows, so that ticket and chat carry the same one; made by the server when it is absent or not this user's. */
    supportCode: optional(typed(40)),
  }),
  reply: object({ success: literal(true), message: string(), ticketId: string(), telegramUrl: string() }),
  errors: ["forbidden"],
});

/** What the page needs to build the hand-off by itself (G61, G62). */
export const supportSettings = object({
  /** Name of the Telegram account; empty where the operator has set none: then Telegram asks whom to send to. */
  telegram: string(),
  /** Whether a link can carry the message: to a person's account it can, to a bot or channel it cannot. */
  prefill: boolean(),
  codePrefix: string(),
  online: boolean(),
  responseTime: string(),
});
export type SupportSettings = Infer<typeof supportSettings>;

export const supportCatalog = endpoint({
  method: "GET",
  path: "/support/catalog",
  auth: "none",
  summary: "Issue types, quick topics, questions and tips (G63, G66)",
  body: nothing,
  reply: object({
    status: literal("success"),
    issueTypes: array(object({ value: choice(issueTypes), label: string() })),
    quickTopics: array(object({ label: string(), issueType: choice(issueTypes) })),
    faq: array(object({ question: string(), answer: string() })),
    tips: array(string()),
  }),
  errors: [],
});
export type SupportCatalog = Infer<(typeof supportCatalog)["reply"]>;
