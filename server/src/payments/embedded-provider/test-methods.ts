import type { TestCard } from "./cards.ts";

export type Failure = NonNullable<TestCard["fails"]>;

/** A UPI address, a bank or a wallet that the dialog accepts, and its result. */
export interface TestAccount {
  readonly id: string;
  readonly label: string;
  readonly fails?: Failure;
  /** Waits for an approval in the UPI app, which comes after a while or never. */
  readonly waits?: "approved" | "unanswered";
}

/** The methods of the country, in the dialog's order: only for orders in rupees, as at Razorpay. */
export const methodNames = { upi: "UPI", card: "Card", netbanking: "Netbanking", wallet: "Wallet" } as const;

/** The first two are Razorpay's own test addresses. No other is accepted, so that no person's address is kept here. */
export const testVpas: readonly TestAccount[] = [
  { id: "success@razorpay", label: "pays" },
  {
    ...{ id: "failure@razorpay", label: "is declined" },
    fails: { reason: "payment_declined", description: "The payment was declined in the UPI app." },
  },
  { id: "pending@razorpay", label: "is approved after a minute", waits: "approved" },
  { id: "expired@razorpay", label: "is never answered", waits: "unanswered" },
];

export const testBanks: readonly TestAccount[] = [
  { id: "HDFC", label: "HDFC Bank" },
  { id: "SBIN", label: "State Bank of India" },
  {
    ...{ id: "UTIB", label: "Axis Bank (fails)" },
    fails: { reason: "payment_cancelled", description: "The payment was cancelled on the bank's page." },
  },
];

export const testWallets: readonly TestAccount[] = [
  { id: "mobikwik", label: "MobiKwik" },
  {
    ...{ id: "payzapp", label: "PayZapp (fails)" },
    fails: { reason: "insufficient_fund", description: "The wallet has not enough balance for this payment." },
  },
];

/** Approval of a waiting payment. */
export const approvalMs = 60_000;
/** As a collect request of UPI at Razorpay: five minutes. */
export const expiryMs = 300_000;

export const unanswered: Failure = {
  reason: "payment_collect_request_expired",
  description: "The payment was not approved in the UPI app in time.",
};
