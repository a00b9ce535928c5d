import { bonusPrint } from "./bonus-print.ts";
import type { LegalText } from "./legal-text.ts";

export const legalRefund: LegalText = {
  title: "Refund policy",
  description:
    "When the money for a GPU environment goes back by itself, when it is decided case by case, and when it does not. Banks take 4-5 business days.",
  updated: "2026-11-20",
  version: "1.0",
  summary:
    "If we do not deliver, the full amount goes back to the card or account you paid with. The refund starts at once; banks take 4-5 business days to show it.",
  sections: [
    {
      id: "automatic",
      title: "Automatic refunds",
      text: ["In these cases a refund is guaranteed. It is processed in 4-5 business days."],
      items: [
        {
          term: "You paid and no container was delivered.",
          text: `The full amount goes back. This starts by itself, without a request, and your next environment gets two bonus hours. ${bonusPrint}`,
        },
        {
          term: "JupyterLab never answered, though its container ran.",
          text: "The first time in an account the full amount goes back by itself, without bonus hours. After that the environment is stopped with its whole time banked, you can start it without your settings, and we decide about the money as below.",
        },
        {
          term: "You cancelled while the environment was still starting.",
          text: "The full amount goes back, also by itself. There are no bonus hours for a cancellation. Launches whose containers had started can be cancelled three times a day.",
        },
        {
          term: "The hardware failed in a paid session.",
          text: "The paid time that you lost is refunded as soon as the failure is confirmed. A program of yours that keeps JupyterLab from answering is not a failure of hardware: the environment is stopped after ten minutes and its time is banked.",
        },
        {
          term: "Maintenance took a significant part of your paid time.",
          text: "The paid time that you lost is refunded.",
        },
      ],
      after:
        "We may learn of a hardware failure from you first. If you have not heard from us, follow the four steps below.",
    },
    {
      id: "late",
      title: "Delivered late",
      text: [
        "An environment that answers later than ten minutes after the payment runs two hours longer than you paid for. The hours are added by themselves and are shown in its expiry. A late delivery is a delivery: there is no refund besides.",
      ],
    },
    {
      id: "discretionary",
      title: "Discretionary refunds",
      text: ["These are decided case by case:"],
      items: [
        { term: "Accidental termination.", text: "You get a fresh session for the time that was left." },
        {
          term: "Partial downtime.",
          text: "You get a prorated refund or an extended session. Tell us which of them you prefer.",
        },
      ],
    },
    {
      id: "none",
      title: "No refunds",
      items: [
        { term: "Completed or consumed sessions.", text: "The time was delivered and used, or it ran out." },
        {
          term: "Early termination by you.",
          text: "On an hourly plan use Stop instead: the remaining time is banked and is there when you restart, within a year.",
        },
        {
          term: "Violation of the terms.",
          text: "See [what is not allowed](/terms-condition#not-allowed).",
        },
      ],
    },
    {
      id: "steps",
      title: "How to ask for a refund",
      text: ["An undelivered environment needs no request. For everything else there are four steps:"],
      ordered: true,
      items: [
        { term: "Collect.", text: "You need the session ID, the payment reference and a description of the issue." },
        { term: "Write.", text: "Send them to {email}, or open Support when you are signed in." },
        {
          term: "Review.",
          text: "We compare your description with what our records say about the session, and answer with a decision and its reason.",
        },
        { term: "Refund.", text: "The refund is initiated, and an email confirms it." },
      ],
    },
    {
      id: "required",
      title: "What we need from you",
      items: [
        {
          term: "Session ID.",
          text: "Each continuous run of an environment is a session with its own ID. If you cannot find it, send the environment's name and the time.",
        },
        {
          term: "Payment reference.",
          text: "The invoice number, which begins with INV-, or the payment provider's ID.",
        },
        { term: "Description of the issue.", text: "What you expected, what happened and when. A screenshot helps." },
      ],
    },
    {
      id: "processing",
      title: "Processing time",
      text: [
        "We hand a refund to the payment provider at once. The 4-5 business days are the time that banks take to show it. It goes to the original payment method, in the currency that was charged; we cannot send it to another card or account.",
        "If it has not arrived after five business days, write to us with the payment reference. We follow every refund until the provider says that it was processed.",
      ],
    },
    {
      id: "fair-usage",
      title: "Fair usage",
      text: [
        "Refunds are there for faults. Repeated claims for sessions that our records show as delivered and used can be declined. This never affects a payment for which nothing was delivered.",
      ],
    },
    {
      id: "alternatives",
      title: "Alternatives",
      text: ["Often there is something faster than a refund:"],
      items: [
        { text: "Stop an hourly environment and continue later with the time that is left." },
        { text: "Cancel while it is still starting." },
        { text: "Ask for an extended or a fresh session in place of the money." },
      ],
      after: "Nothing here limits rights that the law where you live gives you as a consumer.",
    },
  ],
};
