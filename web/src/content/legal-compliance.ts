import { catalogue } from "../catalogue.ts";
import type { LegalText } from "./legal-text.ts";

/** The software of the recipes that are sold. JupyterLab is in all of them. */
const licences = {
  jupyter: "JupyterLab (BSD-3-Clause)",
  pytorch: "PyTorch (BSD-3-Clause)",
  tensorflow: "TensorFlow (Apache-2.0)",
};
const sold = ["jupyter", ...catalogue.types.map(({ id, recipe = id }) => recipe)];
const licensed = Object.entries(licences)
  .flatMap(([recipe, licence]) => (sold.includes(recipe) ? [licence] : []))
  .join(", ");

export const legalCompliance: LegalText = {
  title: "Legal Compliance Summary",
  description:
    "The legal side in one page: who operates the service, payments, consumer rights, acceptable use, data protection, licences and complaints.",
  updated: "2026-11-20",
  version: "1.0",
  summary:
    "This page sums up how {name} meets its legal duties and where the full texts are. Where it differs from one of them, the full text holds.",
  sections: [
    {
      id: "operator",
      title: "Operator and contact",
      text: [
        "The software behind {name} is open source, and each installation has an operator of its own. The operator of this one is reached at {email}, and gives its legal name, postal address and registration on request.",
      ],
    },
    {
      id: "documents",
      title: "The documents",
      items: [
        {
          term: "[Terms of Service](/terms-condition):",
          text: "the contract, what is allowed, warnings and suspension.",
        },
        { term: "[Refund policy](/refund):", text: "when money goes back, and how to ask for it." },
        { term: "[Privacy Policy](/privacy-policy):", text: "what is kept about you, why and for how long." },
        { term: "[Delivery policy](/delivery-policy):", text: "how and when an environment is delivered." },
      ],
    },
    {
      id: "consumers",
      title: "Consumer information",
      items: [
        { term: "Price:", text: "the total is shown before you pay, in the currency that is charged." },
        { term: "No subscription:", text: "you pay once for the hours you choose. Nothing renews by itself." },
        {
          term: "Delivery:",
          text: "digital. The clock starts when JupyterLab answers, and launching is never billed.",
        },
        {
          term: "Withdrawal:",
          text: "you can cancel with a full refund while an environment is starting. Once it is delivered, the service has begun at your request; a right of withdrawal that the law where you live still gives you is not affected.",
        },
        { term: "Changes:", text: "new terms are announced 30 days ahead and do not change rentals already paid for." },
      ],
    },
    {
      id: "payments",
      title: "Payments",
      text: [
        "Cards are handled by the payment provider on its own certified systems. Card numbers are neither sent to our server nor stored on it. Every payment for an environment ends in exactly one environment or one full refund, and refunds go only to the original payment method.",
        "While an installation runs in test mode no money moves. A test gateway may then stand in the provider's place: it is for test cards and test UPI IDs only, and real ones must not be entered there.",
      ],
    },
    {
      id: "acceptable-use",
      title: "Acceptable use",
      items: [
        { text: "Violations follow a two-warning system; after the second warning the account is suspended." },
        { text: "Crypto mining leads to immediate termination, and the evidence is kept." },
        { text: "What is not allowed is listed in the [Terms of Service](/terms-condition#not-allowed)." },
      ],
      after: "To report misuse of an environment, write to {email} with its address, the time and what you saw.",
    },
    {
      id: "data",
      title: "Data protection",
      text: [
        "We keep little, for stated purposes and stated times, without advertising or analytics. Requests to see, correct, export or delete data are answered within 30 days, at {email}. Organisations that process personal data in an environment can ask us for a data processing agreement before they begin.",
      ],
    },
    {
      id: "content",
      title: "Content and copyright",
      text: [
        "Users keep the rights to what they make and answer for what they use. To report content that infringes your rights, write to {email} with the work, the address where you found it, your contact details and a statement that the report is true. We remove what is unlawful and tell the user, who may answer.",
      ],
    },
    {
      id: "export",
      title: "Export control and sanctions",
      text: [
        "High-performance computing can fall under export control. You may not use {name} where the law forbids to provide it to you, nor for weapons or other uses that need a licence you do not have.",
      ],
    },
    {
      id: "licences",
      title: "Software licences",
      text: [
        `The software behind {name} is published under the Apache License 2.0. Environments contain software of others under their own licences, among them ${licensed} and, where there is a GPU, NVIDIA's CUDA libraries under NVIDIA's terms. Their names belong to their owners, who do not endorse this service.`,
      ],
    },
    {
      id: "certificates",
      title: "Certificates",
      text: [
        "We claim no certificate. If your project needs one, such as for health data, ask the operator before you upload anything.",
      ],
    },
    {
      id: "complaints",
      title: "Complaints",
      text: [
        "Write to {email} and say what you would like to happen. If we cannot agree, you may turn to the consumer body, the data protection authority or the court that is responsible where you live.",
      ],
    },
  ],
};
