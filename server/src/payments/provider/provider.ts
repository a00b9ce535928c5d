export interface ProviderOrder {
  readonly id: string;
  readonly receipt: string;
  readonly amountMinor: number;
  readonly currency: string;
  readonly status: "created" | "attempted" | "paid";
}

export interface ProviderPayment {
  readonly id: string;
  readonly orderId: string;
  readonly amountMinor: number;
  readonly currency: string;
  /** The provider's `refunded` is captured plus a refunded amount. */
  readonly status: "created" | "failed" | "authorized" | "captured";
  readonly refundedMinor: number;
  readonly method: string | null;
  readonly cardNetwork: string | null;
  readonly cardLast4: string | null;
  /** Shortened UPI address, or the name of the bank or the wallet; null for a card. */
  readonly paidFrom: string | null;
  readonly feeMinor: number | null;
  readonly errorCode: string | null;
  readonly errorReason: string | null;
  readonly createdAt: Date;
}

export interface ProviderRefund {
  readonly id: string;
  readonly paymentId: string;
  readonly amountMinor: number;
  readonly status: "pending" | "processed" | "failed";
  readonly arn: string | null;
}

/** A chargeback by the payer's bank. `open` and `under_review` are undecided; the others are decisions. */
export interface ProviderDispute {
  readonly id: string;
  readonly paymentId: string;
  /** Disputed amount, in minor units of `currency`. */
  readonly amountMinor: number;
  readonly currency: string;
  /** Amount that the bank took after a loss; 0 before. */
  readonly deductedMinor: number;
  readonly status: "open" | "under_review" | "won" | "lost" | "closed";
  /** fraud, retrieval, chargeback, pre_arbitration or arbitration. */
  readonly phase: string;
  readonly reasonCode: string | null;
  readonly respondBy: Date | null;
  readonly createdAt: Date;
}

/** A payment provider in Razorpay's dialect (docs/internals/money.md): Razorpay itself, or the embedded provider. */
export interface Provider {
  readonly kind: "razorpay" | "embedded";
  readonly mode: "embedded" | "test" | "live";
  /** Public key, for the dialog. */
  readonly keyId: string;
  /** Smallest charge by currency, in minor units; others are the provider's own affair. */
  readonly minimumMinor: Readonly<Record<string, number>>;
  /** Has no idempotency key: after an unknown outcome, look up by receipt before a retry. */
  createOrder(order: {
    receipt: string;
    amountMinor: number;
    currency: string;
    notes: Record<string, string>;
  }): Promise<ProviderOrder>;
  findOrderByReceipt(receipt: string): Promise<ProviderOrder | undefined>;
  paymentsOfOrder(orderId: string): Promise<readonly ProviderPayment[]>;
  /**
   * Lists the payments of this account and mode created in the window, both ends included, newest first, at most 100 per
   * page. `isLast`: there is no further page.
   */
  paymentsBetween(window: {
    readonly from: Date;
    readonly to: Date;
    readonly skip: number;
    readonly count: number;
  }): Promise<{ readonly payments: readonly ProviderPayment[]; readonly isLast: boolean }>;
  payment(paymentId: string): Promise<ProviderPayment>;
  /** Only from authorized, same amount and currency. */
  capture(paymentId: string, amountMinor: number, currency: string): Promise<ProviderPayment>;
  /** `key` is the idempotency key: same key and body, same refund. */
  refund(refund: {
    paymentId: string;
    amountMinor: number;
    key: string;
    notes: Record<string, string>;
  }): Promise<ProviderRefund>;
  refundsOfPayment(paymentId: string): Promise<readonly ProviderRefund[]>;
  refundById(refundId: string): Promise<ProviderRefund>;
  dispute(disputeId: string): Promise<ProviderDispute>;
  /** Lists the newest hundred. */
  disputes(): Promise<readonly ProviderDispute[]>;
  /** Compares the lower-case hex HMAC of `orderId|paymentId` with the key secret in constant time. */
  verifyCallback(proof: { orderId: string; paymentId: string; signature: string }): boolean;
}

/** The provider refused (final), or failed or gave no reply (retryable, with back-off; no reply: code NETWORK, no `httpStatus`). */
export class ProviderError extends Error {
  readonly retryable: boolean;
  /** The provider's code, such as BAD_REQUEST_ERROR. Its reason, such as a low balance, stands in the message only. */
  readonly code: string;
  readonly httpStatus: number | undefined;
  /** What the provider asked to wait for, with a 429. */
  readonly retryAfterMs: number | undefined;

  constructor(
    message: string,
    {
      retryable,
      code,
      httpStatus,
      retryAfterMs,
      ...options
    }: { retryable: boolean; code: string; httpStatus?: number; retryAfterMs?: number | undefined } & ErrorOptions,
  ) {
    super(message, options);
    this.name = "ProviderError";
    this.retryable = retryable;
    this.code = code;
    this.httpStatus = httpStatus;
    this.retryAfterMs = retryAfterMs;
  }
}
