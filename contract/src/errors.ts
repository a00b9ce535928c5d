import { enum as choice, type infer as Infer, literal, object, optional, string } from "zod/mini";

/** All error codes with their HTTP status (G83). Clients switch on the code and show the message. */
export const errorStatus = {
  invalid_request: 400,
  signature_mismatch: 400,
  unknown_card: 400,
  weak_password: 400,
  wrong_password: 400,
  passkey_refused: 400,
  unauthenticated: 401,
  forbidden: 403,
  email_unverified: 403,
  account_held: 403,
  second_factor_required: 403,
  not_found: 404,
  price_changed: 409,
  subdomain_taken: 409,
  out_of_stock: 409,
  too_many_gpus: 409,
  order_in_payment: 409,
  request_changed: 409,
  action_not_allowed: 409,
  email_exists: 409,
  not_delivered: 409,
  payment_not_captured: 409,
  voucher_refused: 409,
  too_large: 413,
  unsupported_media_type: 415,
  wrong_host: 421,
  below_minimum: 422,
  not_prepared: 422,
  rate_limited: 429,
  internal: 500,
  not_answering: 502,
  unavailable: 503,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof errorStatus;

/** Where the buyer's money is when a paid call is refused (G14). */
export const moneyStates = ["nothing_taken", "being_checked", "refund_started", "refunded"] as const;
export type MoneyState = (typeof moneyStates)[number];

/** Format of all error replies. `detail` repeats the message for older clients (G64). */
export const errorReply = object({
  status: literal("error"),
  code: choice(Object.keys(errorStatus) as [ErrorCode, ...ErrorCode[]]),
  message: string(),
  detail: string(),
  money: optional(choice(moneyStates)),
});

export type ErrorReply = Infer<typeof errorReply>;
