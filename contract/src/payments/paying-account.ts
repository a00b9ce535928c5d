/** The account that pays, in sentences: "back to NAME", "expected AT by Friday". */
interface Account {
  readonly name: string;
  readonly at: string;
}

const card: Account = { name: "your card", at: "on your card" };

/** By the provider's name of the method (G366). */
const accounts: Readonly<Record<string, Account>> = {
  card,
  emi: card,
  upi: inside("your UPI account"),
  netbanking: inside("your bank account"),
  wallet: inside("your wallet"),
};

function inside(name: string): Account {
  return { name, at: `in ${name}` };
}

const anyAccount: Account = { name: "the card or account that paid", at: "on the card or account that paid" };

/** Where the money of a payment by this method came from, and goes back to; without a known method, words for any. */
export function payingAccount(method: string | null | undefined): Account {
  return accounts[method ?? ""] ?? anyAccount;
}

export interface PaidBy {
  readonly method: string | null;
  readonly card_network: string | null;
  readonly card_last4: string | null;
  /** Shortened UPI address (G367), or the provider's name of a bank or a wallet. Receipts before 0.2 lack it. */
  readonly paid_from?: string | null;
}

const labels: Readonly<Record<string, string>> = { upi: "UPI", netbanking: "Netbanking", wallet: "Wallet" };

/** "Visa ending in 1111", "UPI, ad***@okaxis"; null if nothing is known. */
export function paidWith({ method, card_network, card_last4, paid_from }: PaidBy): string | null {
  if (card_last4) return `${card_network ?? "Card"} ending in ${card_last4}`;
  const label = method && (labels[method] ?? method);
  return label && paid_from ? `${label}, ${paid_from}` : label;
}
