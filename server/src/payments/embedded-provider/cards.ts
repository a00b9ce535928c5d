/** A test card and its result; `reason` is one of the provider's reason codes. */
export interface TestCard {
  readonly number: string;
  readonly network: "MasterCard" | "Visa";
  readonly fails?: { readonly reason: string; readonly description: string };
}

/** The only cards accepted, so that a real card number never looks valid in test mode. */
export const testCards: readonly TestCard[] = [
  { number: "5555555555554444", network: "MasterCard" },
  { number: "5267318187975449", network: "MasterCard" },
  { number: "5500670000001002", network: "MasterCard" },
  { number: "5105105105105100", network: "MasterCard" },
  { number: "5104060000000008", network: "MasterCard" },
  { number: "4100280000001007", network: "Visa" },
  { number: "4012888888881881", network: "Visa" },
  failing("5305620000050001", "insufficient_fund", "The card has not enough balance for this payment."),
  failing("5305620000040002", "payment_cancelled", "The payment was cancelled at the bank."),
  failing("5305620000030003", "card_declined", "The test bank declined this card."),
  failing("5305620000060000", "payment_timed_out", "The test bank did not answer in time."),
  failing("5305620000090007", "gateway_technical_error", "The test bank had a technical error."),
  failing("5305620000070009", "authentication_failed", "The card holder was not authenticated."),
];

function failing(number: string, reason: string, description: string): TestCard {
  return { number, network: "MasterCard", fails: { reason, description } };
}

export function testCard(number: string): TestCard | undefined {
  const digits = number.replace(/[\s-]/g, "");
  return testCards.find((card) => card.number === digits);
}

/** Accepts any future month: "12" with "34" or "2034" (G88). */
export function isFutureExpiry(month: string, year: string, now: Date): boolean {
  if (!/^(0?[1-9]|1[0-2])$/.test(month) || !/^(\d{2}|\d{4})$/.test(year)) return false;
  const fullYear = year.length === 2 ? 2000 + Number(year) : Number(year);
  return Date.UTC(fullYear, Number(month)) > now.getTime();
}
