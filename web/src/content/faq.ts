import { currencyList } from "./environment-types.ts";

/** `retentionDays` is the operator's setting. */
export const faqOf = (retentionDays: string) => [
  {
    question: "Do I need a credit card to sign up?",
    answer: `No. You pay only when you launch an environment. You see the total in ${currencyList()} before you pay.`,
  },
  {
    question: "Does anything renew by itself?",
    answer:
      "No. You pay once for the hours you choose. When they are used up the environment ends, and nothing more is charged.",
  },
  {
    question: "What happens to my files when the time is up?",
    answer: `They stay. Files are kept for ${retentionDays} days after the last session and come back when you launch an environment with the same name.`,
  },
  {
    question: "What is the difference between pause and stop?",
    answer:
      "Pause freezes the environment: memory and GPUs are held, and the clock keeps running. Stop gives the GPUs back: files stay, and on an hourly plan the remaining time is banked for a year.",
  },
  {
    question: "When does the clock start?",
    answer:
      "When JupyterLab answers at your address. Launching is never billed. Started again after a stop, the clock runs from the start of the container, less up to a minute until JupyterLab answers. One session runs for at most 168 hours; a monthly rental opens the next one by itself.",
  },
];
