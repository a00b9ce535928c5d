/** Texts of orders that wait for their payment (G85, G333). `sum` is formatted money. */
export const unpaidTexts = {
  label: "Not paid yet",
  launch: (name: string, sum: string) => `Not paid yet: ${name}, ${sum}`,
  more: (name: string, sum: string) => `Not paid yet: more time for ${name}, ${sum}`,
  held: (until: string) => `It is kept for you until ${until}. Have you just paid? Then it goes on by itself.`,
  pay: (sum: string) => `Pay ${sum}`,
  drop: "Drop it",
  dropped: (name: string) => `The order for ${name} is dropped. Nothing was charged.`,
  inFlight: "A payment for this order is already on its way. If it arrives, it goes on by itself.",
  failed: "The order could not be dropped. Nothing is charged unless you pay.",
} as const;
