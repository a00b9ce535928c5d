import type { SupportCatalog } from "./support.ts";

/** Texts of the support screen, shared by server and browser. An operator edits them here (G66). */
export const supportContent: Omit<SupportCatalog, "status"> = {
  issueTypes: [
    { value: "container_issues", label: "Environment will not start or misbehaves" },
    { value: "payment_issues", label: "Payment or refund" },
    { value: "performance_issues", label: "Performance" },
    { value: "account_access", label: "Account access" },
    { value: "billing_questions", label: "Billing question" },
    { value: "feature_request", label: "Feature request" },
    { value: "technical_support", label: "Technical support" },
    { value: "other", label: "Other" },
  ],
  quickTopics: [
    { label: "Container Won't Start", issueType: "container_issues" },
    { label: "Payment Issues", issueType: "payment_issues" },
    { label: "Performance Problems", issueType: "performance_issues" },
    { label: "Account Access", issueType: "account_access" },
  ],
  faq: [
    {
      question: "My environment is still starting. What now?",
      answer:
        "The status names the stage and the time it has taken. You can cancel it for a full refund. After 10 minutes two hours are added; if it cannot be delivered, the full amount goes back to the card or account that paid by itself.",
    },
    {
      question: "How do I get a refund?",
      answer:
        "Send the session ID, the payment reference and one sentence about the issue. Both ids stand on every row with a copy button.",
    },
    {
      question: "Where are my files after a stop?",
      answer: "In place. Restart brings them back, and they outlive the last session by 30 days.",
    },
    {
      question: "Does the clock run while an environment is paused?",
      answer:
        "Yes: a paused environment keeps its memory and its GPUs. Stop it instead, and an hourly plan banks the time that is left.",
    },
  ],
  tips: [
    "Write the support code in the chat; it finds your account.",
    "Add the session ID for anything about one environment.",
    "For money, add the payment reference from Payment History.",
  ],
};
