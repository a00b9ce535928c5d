import { type ErrorCode, texts } from "@berth/contract";
import { AppError } from "../app-error.ts";
import { IdentityError, type IdentityErrorCode } from "./identity.ts";

const refusals: Partial<Record<IdentityErrorCode, readonly [ErrorCode, string]>> = {
  EMAIL_EXISTS: ["email_exists", "There is already an account with this email address"],
  WEAK_PASSWORD: ["weak_password", texts.passwordTooShort],
  INVALID_EMAIL: ["invalid_request", "This is not an email address"],
  INVALID_LOGIN_CREDENTIALS: ["wrong_password", "This is not your current password"],
  USER_NOT_FOUND: ["unauthenticated", "Sign in first"],
  USER_DISABLED: ["unauthenticated", "Sign in first"],
  INVALID_CODE: ["wrong_password", "This code is not right, or it was used before"],
  SECOND_FACTOR_EXISTS: ["action_not_allowed", "Two-factor sign-in is on already. Turn it off to use another app."],
  MFA_ENROLLMENT_NOT_FOUND: ["action_not_allowed", "Two-factor sign-in is not set up, or its set-up took too long"],
  TOO_MANY_ATTEMPTS_TRY_LATER: ["rate_limited", "Too many attempts. Wait a moment, then try again."],
  UNAVAILABLE: ["unavailable", "Accounts cannot be reached right now. Try again in a moment."],
};

/** Maps a provider's refusal to ours; undefined for codes that our calls cannot cause. */
export function refusalOf(error: IdentityError): AppError | undefined {
  const [code, message] = refusals[error.code] ?? [];
  if (code === undefined || message === undefined) return undefined;
  const { retryAfterSeconds = code === "unavailable" ? 5 : undefined } = error;
  return new AppError(code, message, { cause: error, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) });
}

/** What a caller reads of a provider's refusal, or the error itself. */
export function refused(error: unknown): unknown {
  return (error instanceof IdentityError && refusalOf(error)) || error;
}

export function refuse(error: unknown): never {
  throw refused(error);
}
