export const faq = [
  {
    question: "Do I need a credit card to sign up?",
    answer: "No. You need a card only when you launch an environment. You see the total in USD or INR before you pay.",
  },
  {
    question: "Does anything renew by itself?",
    answer:
      "No. You pay once for the hours you choose. When they are used up the environment ends, and nothing more is charged.",
  },
  {
    question: "What happens to my files when the time is up?",
    answer:
      "They stay. Files are kept for 30 days after the last session and come back when you launch an environment with the same name.",
  },
  {
    question: "What is the difference between pause and stop?",
    answer:
      "Pause freezes the environment: memory and GPUs are held, and the clock keeps running. Stop gives the GPUs back: files stay, and on an hourly plan the remaining time is banked.",
  },
  {
    question: "When does the clock start?",
    answer:
      "When JupyterLab answers at your address. Launching is never billed. One session runs for at most 168 hours; a monthly rental opens the next one by itself.",
  },
];

export const supportFaq = [
  {
    question: "My environment is still starting. What now?",
    answer:
      "The status names the stage and the time it has taken. You can cancel it for a full refund. After 10 minutes two hours are added; if it cannot be delivered, the full amount goes back to your card by itself.",
  },
  {
    question: "How do I get a refund?",
    answer:
      "Send the session ID, the payment reference and one sentence about the issue. Both ids stand on every row with a copy button.",
  },
  {
    question: "Where are my files after a stop?",
    answer: "In place. Restart brings them back; they are kept 30 days after the last session.",
  },
];
