import type { LegalText } from "./legal-text.ts";

export const refund: LegalText = {
  title: "Refund policy",
  updated: "November 20, 2026",
  summary:
    "If we do not deliver, the full amount goes back to the card you paid with. The refund starts at once; banks take 4-5 business days to show it.",
  sections: [
    {
      title: "Automatic refunds",
      text: "These start by themselves, without a request:",
      items: [
        "Payment was taken but no environment was delivered",
        "The hardware failed in a paid session",
        "Maintenance affected significant paid time",
      ],
    },
    {
      title: "Discretionary refunds",
      text: "Decided case by case, usually within a day:",
      items: ["Accidental termination: a fresh session", "Partial downtime: a prorated refund or an extended session"],
    },
    {
      title: "No refunds",
      items: [
        "Completed or consumed sessions",
        "Early termination that you started yourself",
        "Violation of the terms",
      ],
    },
    {
      title: "How to ask for one",
      ordered: true,
      items: [
        "Open Support and choose Payment or refund",
        "Give the session ID, the payment reference and a description of the issue",
        "You get an answer, usually within 1 hour",
        "Once the refund is initiated, an email confirms it",
      ],
    },
    {
      title: "Notes",
      text: "Refunds go to the original payment method through the payment provider. If an environment is delivered late, two bonus hours are added. Fair usage applies: repeated claims without a fault can be declined.",
    },
  ],
};
