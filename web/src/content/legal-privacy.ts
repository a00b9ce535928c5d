import type { LegalText } from "./legal-text.ts";

export const legalPrivacy: LegalText = {
  title: "Privacy Policy",
  description:
    "Which data is kept about you, why, for how long and who sees it. No advertising, no analytics, no sale of data.",
  updated: "2026-11-20",
  version: "1.0",
  summary:
    "We keep what is needed to run your environments and to account for your payments. There is no advertising and no analytics, and your data is not sold.",
  sections: [
    {
      id: "who",
      title: "Who is responsible",
      text: ["The operator of {name} is responsible for your data. For anything about it, write to {email}."],
    },
    {
      id: "what",
      title: "What we keep",
      items: [
        {
          term: "Account:",
          text: "your email address, your name and phone number if you give them, and your password as an argon2id hash. We cannot read the password.",
        },
        {
          term: "Sign-ins:",
          text: "when you signed in, from which network address and with which browser.",
        },
        {
          term: "Sign-ins by another service:",
          text: "if you use one, your number, address and name there. We send that service nothing but that you sign in here.",
        },
        {
          term: "Environments:",
          text: "type, name, GPU count, times of start and end, sessions, launch stages and errors.",
        },
        { term: "Files:", text: "what you store in an environment. It is yours, and we do not analyse it." },
        {
          term: "Against crypto mining:",
          text: "the names of an environment's programs and the load of its GPUs are looked at, no files. Where they point to mining we keep the command lines, with whatever was typed into them, and the load of that hour, for a person to look at.",
        },
        {
          term: "Payments:",
          text: "amount, currency, date, status, the provider's IDs, the method, a card's network and its last four digits, a UPI ID shortened to its first two characters and its bank, the name of a bank or a wallet. The full card number goes to the payment provider and does not reach us.",
        },
        { term: "Messages:", text: "notifications, the emails we send you, and what you write to support." },
        { term: "Server logs:", text: "errors of the service. Ordinary requests are not logged by the application." },
      ],
    },
    {
      id: "why",
      title: "Why",
      items: [
        {
          term: "To fulfil the contract:",
          text: "to sign you in, run your environments, take payments and refund them.",
        },
        {
          term: "For security:",
          text: "to limit guessing of passwords, and to find and stop misuse such as crypto mining.",
        },
        { term: "Because the law asks for it:", text: "accounting records of payments." },
        { term: "With your consent:", text: "news about the product, only if you switch it on. It is off by default." },
      ],
    },
    {
      id: "browser",
      title: "In your browser",
      text: [
        "The app uses no cookies for tracking, and no scripts of other companies but the payment provider's at checkout, where a provider is connected. It stores in your browser:",
      ],
      items: [
        { text: "your sign-in: tokens, user ID and email address, removed when you log out" },
        { text: "choices such as the colour scheme, hidden notices and an unfinished order" },
        {
          text: "on the address of each environment that you open, one cookie that signs you in to that environment only",
        },
      ],
    },
    {
      id: "others",
      title: "Who else sees it",
      items: [
        {
          term: "The payment provider",
          text: "receives what you enter at checkout and processes it under its own policy.",
        },
        { term: "Those who host us:", text: "the machines and the mail service that the operator uses." },
        {
          term: "Telegram,",
          text: "if you choose to write to support there. The message is prepared in your browser, and you send it yourself.",
        },
        { term: "Those you let in", text: "to an environment see what is in it." },
        { term: "Authorities,", text: "where the law obliges us, and no more than it asks for." },
      ],
      after: "We do not sell data and do not use yours to train models.",
    },
    {
      id: "how-long",
      title: "How long",
      items: [
        {
          term: "Files:",
          text: "{retentionDays} days after the last session; with banked time, until it is used or has ended, a year after the last session.",
        },
        { term: "Sign-ins:", text: "60 days after they ended or expired." },
        { term: "Links to reset a password:", text: "they work for one hour and are removed within two days." },
        { term: "Account and environments:", text: "as long as your account exists." },
        { term: "Payments:", text: "as long as accounting law requires, also after an account is deleted." },
        {
          term: "Evidence of crypto mining:",
          text: "30 days after a person found nothing in it, otherwise a year after the environment has ended.",
        },
      ],
    },
    {
      id: "rights",
      title: "Your rights",
      text: [
        "You may see, correct, take with you and delete your data, and object to its use. Name and phone can be changed in Settings. For a copy of your data or for the deletion of your account use Settings, where it is offered, or write to {email} from the address of your account.",
        "Deleting an account ends its environments and removes their files. You may also complain to the data protection authority where you live.",
      ],
    },
    {
      id: "security",
      title: "Security",
      text: [
        "Each environment runs isolated from the others and is reached only through a gateway that checks who you are. Access tokens are short-lived. No system is perfectly safe: if a breach affects your data, we tell you and the authorities as the law requires. Please report weaknesses to {email}.",
      ],
    },
    {
      id: "children",
      title: "Children",
      text: ["{name} is not meant for children under 16, and we do not knowingly keep their data."],
    },
    {
      id: "changes",
      title: "Changes",
      text: [
        "We announce changes to this policy 30 days ahead. The version and the date at the top say which text you are reading.",
      ],
    },
  ],
};
