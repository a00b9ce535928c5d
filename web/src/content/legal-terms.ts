import { prices } from "../catalogue.ts";
import { listed } from "../format.ts";
import { bonusPrint } from "./bonus-print.ts";
import { comingPriceTexts } from "./coming-prices.ts";
import { conversions } from "./currency-choice.ts";
import { currencyList, isMonthlySold, typeList } from "./environment-types.ts";
import type { LegalText } from "./legal-text.ts";
import { termsVersions } from "./terms-versions.ts";

const gpuCounts = listed(
  prices().rows.map(({ gpus }) => gpus),
  "disjunction",
);
const monthlyPlan =
  "A monthly plan costs what the price table says, which for some GPU counts is more than the same hours one by one. What it adds is guaranteed availability: its GPUs are held for all 720 hours, even while stopped.";
const { version, updated, changes, coming } = termsVersions("2026-11-20");

export const legalTerms: LegalText = {
  title: "Terms of Service",
  description:
    "The rules for renting a GPU environment: prepaid hours, sessions of up to 168 hours, what is not allowed, and how these terms change.",
  updated,
  version,
  coming,
  summary:
    "You rent a GPU environment for the hours you choose and pay once, before it starts. Nothing renews by itself. If we do not deliver, the money goes back.",
  sections: [
    {
      id: "agreement",
      title: "The agreement",
      text: [
        "These terms are between you and the operator of {name}, reached at {email}. By logging in or signing up you agree to them and to the [Privacy Policy](/privacy-policy). The [Refund policy](/refund) and the [Delivery policy](/delivery-policy) are part of them.",
        "You must be old enough to make a contract where you live. If you act for an organisation, you confirm that you may.",
      ],
    },
    {
      id: "service",
      title: "What you rent",
      text: [
        `An environment is a container with ${typeList}, on a subdomain that you choose. It has ${gpuCounts} GPUs, and they are yours alone while you hold them. Each environment shows the hardware that was found in it.`,
      ],
      items: [
        {
          term: "The clock",
          text: "starts when JupyterLab answers at your address. Launching is never billed.",
        },
        {
          term: "Pause",
          text: "freezes an environment. Memory and GPUs are kept for you, and the clock keeps running.",
        },
        {
          term: "Stop",
          text: "removes the container and keeps the files. An hourly plan gives its GPUs back and banks the time that is left; a monthly plan holds its GPUs, and its clock keeps running.",
        },
        {
          term: "Terminate",
          text: "ends the rental. The remaining time is lost; the files are kept as described below.",
        },
      ],
    },
    {
      id: "sessions",
      title: "Sessions",
      text: [
        "A session is one continuous run of an environment. The maximum session is 168 hours. A monthly rental of 720 hours is longer than that: at 168 hours its session is closed and the next one opens by itself, without touching the container.",
      ],
    },
    {
      id: "account",
      title: "Your account",
      items: [
        { text: "Give an email address that you can read. It is how we reach you." },
        { text: "Keep your password to yourself. What is done with your account counts as done by you." },
        { text: "Tell us at {email} when you think that somebody else has used it." },
        { text: "No credit card is needed to sign up." },
      ],
    },
    {
      id: "payment",
      title: "Prices and payment",
      text: [
        `You see the total in ${currencyList()} before you pay, and you pay it once, for the hours you choose. Nothing renews by itself. The price that the server confirms for your order is the one that is charged.${conversions()}`,
        "GPUs and name are reserved for you for up to 15 minutes while you pay. Payments are handled by a payment provider; the number of your card does not reach us.",
        ...(isMonthlySold() ? [monthlyPlan] : []),
        ...comingPriceTexts(),
      ],
    },
    {
      id: "refunds",
      title: "Delivery and refunds",
      items: [
        { text: "Later than ten minutes after the payment: two bonus hours are added to that environment." },
        {
          text: `Delivery failed: the full amount goes back by itself, and your next environment gets 2 bonus hours. ${bonusPrint}`,
        },
        {
          text: "JupyterLab stays silent for ten minutes while its container runs: the environment is stopped and its time is kept. The first time that this befalls a launch of yours the full amount goes back by itself.",
        },
        {
          text: "The first start of an environment is not billed until JupyterLab answers. Later starts are billed from the start of the container, less up to a minute each and ten minutes a day.",
        },
        { text: "Refunds take 4-5 business days, which is the time that banks need to show them." },
      ],
      after: "All cases are in the [Refund policy](/refund).",
    },
    {
      id: "sharing",
      title: "Sharing",
      text: [
        "You may share container links with other users. A link opens an environment only for those you let in; whoever has its password can run code in it. You answer for what is done there by those you let in.",
      ],
    },
    {
      id: "files",
      title: "Your files",
      text: [
        "What you make is yours. We claim no right to it, and we do not look into it, except as far as you ask us to or the law obliges us.",
        "Files belong to your account and the environment's name. They survive stop and expiry, come back when you launch an environment of the same name, and are kept {retentionDays} days after the last session. The name stays reserved for you as long. Files with banked time are kept until it is used. Banked time ends a year after the last session; we write 30 days, 7 days and 1 day before.",
        "This is storage, not a backup. Keep a copy elsewhere of what you cannot lose.",
      ],
    },
    {
      id: "not-allowed",
      title: "What is not allowed",
      items: [
        { term: "Crypto mining,", text: "of any kind and in any amount." },
        { term: "Attacks:", text: "malware, break-ins, denial of service, scanning of networks that are not yours." },
        { term: "Escape:", text: "trying to leave the container, or to reach other people's environments." },
        { term: "Spam", text: "and phishing, and pages that pretend to be somebody else's." },
        { term: "Unlawful content,", text: "and the use of data or models that you have no right to use." },
        { term: "Evasion:", text: "several accounts to get around limits, or payment with cards that are not yours." },
        { term: "Resale", text: "of environments without our written agreement." },
      ],
    },
    {
      id: "warnings",
      title: "Warnings and suspension",
      text: ["There is a two-warning system:"],
      ordered: true,
      items: [
        { text: "The first violation brings a warning that says what it was and how to put it right." },
        { text: "The second brings another, which is the last." },
        { text: "After that the account is suspended." },
      ],
      after:
        "Crypto mining is the exception: it leads to immediate termination without a warning and without a refund, and we keep the evidence. We may also stop an environment at once when it endangers others or the law requires it. If you think that we are wrong, write to {email}; a person will look at it.",
    },
    {
      id: "beta",
      title: "Beta and test mode",
      text: [
        "During the beta the service can change faster than later; what you have paid for is delivered or refunded all the same. While the dashboard says that payments run in test mode, no real money is charged and there is nothing to refund in money. Do not enter a real card or UPI ID there.",
      ],
    },
    {
      id: "availability",
      title: "Availability and liability",
      text: [
        "We work to keep environments running, but we do not promise that they never fail. When paid time is lost through us, the [Refund policy](/refund) says what you get.",
        "As far as the law allows, our liability for a rental is limited to what you paid for it, and we are not liable for lost profit or for data of which you kept no copy. Nothing limits liability that the law does not let us limit, such as for intent, gross negligence or injury.",
      ],
    },
    {
      id: "ending",
      title: "Ending the agreement",
      text: [
        "You can stop using {name} at any time, and ask for your account to be deleted. Nothing is charged after the hours you paid for. We may end the agreement with 30 days' notice, in which case paid time that you have not used is refunded.",
      ],
    },
    {
      id: "changes",
      title: "Changes to these terms",
      text: [
        "We give 30-day notice of a change, on this page and to you directly. It applies to rentals that start after that day; a rental that you have paid for keeps the terms it was bought under. The version and the date at the top say which text you are reading.",
      ],
      items: [...coming, ...changes].map((text) => ({ text })),
    },
    {
      id: "law",
      title: "Law and disputes",
      text: [
        "The law of the place where the operator is established applies, and with it every right that the law where you live gives you as a consumer. Write to us first: most disputes end there. If one part of these terms does not hold, the rest does.",
      ],
    },
  ],
};
