import { bonusPrint } from "./bonus-print.ts";
import type { LegalText } from "./legal-text.ts";

export const legalDelivery: LegalText = {
  title: "Delivery policy",
  description:
    "Environments are delivered digitally, usually within about 30 seconds of the payment. What happens when it takes longer, and when it fails.",
  updated: "2026-11-20",
  version: "1.0",
  summary:
    "Delivery is digital: nothing is shipped and there are no shipping charges. An environment is delivered when JupyterLab answers at your address.",
  sections: [
    {
      id: "what",
      title: "What is delivered",
      text: [
        "You buy time on a GPU environment. It is delivered over the internet, at the subdomain that you chose, to the account that ordered it. It works wherever you can open the page in a current browser; there is nothing to install and no physical product.",
      ],
    },
    {
      id: "how-long",
      title: "How long it takes",
      items: [
        {
          term: "Usually about 30 seconds",
          text: "from the payment until JupyterLab answers. Every launch is measured, and you see each stage with its time.",
        },
        {
          term: "Later than ten minutes:",
          text: "two hours are added to the environment, by themselves.",
        },
        {
          term: "Not delivered:",
          text: `the full amount goes back to the card or account you paid with, by itself, and your next environment gets two bonus hours. Banks take 4-5 business days to show the money. ${bonusPrint}`,
        },
        {
          term: "JupyterLab does not answer, though its container runs:",
          text: "the first time in an account the full amount goes back by itself. After that the environment is stopped with its whole time banked, and a person decides about the money.",
        },
      ],
      after:
        "The refund starts when we give the launch up, which may be later than the tenth minute. Until then you can cancel it yourself.",
    },
    {
      id: "order",
      title: "From order to delivery",
      ordered: true,
      items: [
        { term: "Reserve.", text: "Your GPUs and your name are held for up to 15 minutes while you pay." },
        { term: "Pay.", text: "The payment provider confirms the payment to our server." },
        {
          term: "Launch.",
          text: "The environment is prepared and started. You can close the page: it goes on without it.",
        },
        {
          term: "Delivered.",
          text: "JupyterLab answers at your address. The clock starts now, and the environment is shown as active in your list.",
        },
      ],
    },
    {
      id: "not-yet",
      title: "Before it is delivered",
      items: [
        {
          term: "Cancelling.",
          text: "While an environment is starting you can cancel it. The full amount is refunded, and the GPUs and the name are free again.",
        },
        {
          term: "A payment that arrives late.",
          text: "If it comes after your reservation ended, the environment is delivered if the GPUs and the name are still free. Otherwise the full amount is refunded.",
        },
        { term: "Paid twice.", text: "A second payment for the same order is refunded." },
      ],
    },
    {
      id: "access",
      title: "Getting in",
      text: [
        "Open Session takes you to your environment signed in. Its address and its password are shown in your environments list as long as it exists. We send nothing by post.",
      ],
    },
    {
      id: "trouble",
      title: "If something is missing",
      text: [
        "Write to {email} with the payment reference. What you get back in each case is in the [Refund policy](/refund).",
      ],
    },
  ],
};
