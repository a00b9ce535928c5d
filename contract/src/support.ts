import { array, enum as choice, literal, maxLength, minLength, object, string } from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { nothing, typed } from "./wire.ts";

/** Spec section 3. */
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

export const maxSupportText = 1000;

export const openTicket = endpoint({
  method: "POST",
  path: "/support/tickets",
  auth: "bearer",
  summary: "Saves a ticket; the chat hand-off works without it (G59)",
  body: object({
    issueType: choice(issueTypes),
    description: string().check(minLength(1), maxLength(maxSupportText)),
    userEmail: typed(254),
    userId: typed(128),
  }),
  reply: object({ success: literal(true), message: string(), ticketId: string(), telegramUrl: string() }),
  errors: ["forbidden"],
});

export const supportCatalog = endpoint({
  method: "GET",
  path: "/support/catalog",
  auth: "none",
  summary: "Issue types, quick topics, questions and tips (G63, G66)",
  body: nothing,
  reply: object({
    status: literal("success"),
    issueTypes: array(object({ value: choice(issueTypes), label: string() })),
    faq: array(object({ question: string(), answer: string() })),
    tips: array(string()),
  }),
  errors: [],
});
