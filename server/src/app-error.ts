import type { ErrorCode, MoneyState } from "@berth/contract";

interface Details extends ErrorOptions {
  /** Where the buyer's money is (G14). */
  readonly money?: MoneyState;
  readonly retryAfterSeconds?: number;
}

/** A refusal for the client. Any other error is a bug or an outage, and becomes a 500. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly money: MoneyState | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, { money, retryAfterSeconds, ...options }: Details = {}) {
    super(message, options);
    this.name = "AppError";
    this.code = code;
    this.money = money;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
