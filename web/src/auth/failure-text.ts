import { texts } from "@berth/contract";
import { ApiError } from "../api/api-error.ts";
import { IdentityError } from "../api/identity-client.ts";
import { commonTexts } from "../content/common-texts.ts";

/**
 * Texts for the provider's codes, which are never shown (docs/internals/identity.md); its messages are shown unchanged.
 */
const byCode: Readonly<Record<string, string>> = {
  TOO_MANY_ATTEMPTS_TRY_LATER: commonTexts.tooManySignIns,
  QUOTA_EXCEEDED: commonTexts.tooManySignIns,
  NETWORK: commonTexts.signInNoAnswer,
};

/** The provider's sentence, which names an address, or the general one (G119). */
function suspendedText({ code, text }: IdentityError): string | undefined {
  return code === "USER_DISABLED" ? text || commonTexts.accountDisabled : undefined;
}

/** Spec 8: the provider's message, or the general one. */
export function loginFailure(error: unknown): string {
  if (error instanceof IdentityError) {
    const text =
      suspendedText(error) ?? byCode[error.code] ?? (error.status === 429 ? commonTexts.tooManySignIns : error.text);
    if (text) return text;
  }
  if (error instanceof ApiError && error.code === "network") return commonTexts.signInNoAnswer;
  return "Login failed. Please check your credentials.";
}

/** Undefined: the password is asked again, because this sign-in takes no more codes. */
export function codeFailure(error: unknown): string | undefined {
  if (error instanceof IdentityError) {
    if (endedCodes.has(error.code)) return undefined;
    if (error.code === "INVALID_CODE" || error.code === "INVALID_VERIFICATION_CODE") return commonTexts.wrongCode;
  }
  return loginFailure(error);
}

const endedCodes: ReadonlySet<string> = new Set(["INVALID_MFA_PENDING_CREDENTIAL", "MFA_ENROLLMENT_NOT_FOUND"]);

/** Spec 8, chosen by status and code (G82). */
export function signUpFailure(error: unknown): string {
  if (error instanceof IdentityError) return "Failed to authenticate with the provided token";
  if (!(error instanceof ApiError)) {
    return error instanceof Error && error.message !== "" ? error.message : unexpected;
  }
  if (error.status === 401) return "Invalid credentials. Please check your email and password.";
  if (error.status === 400) return "Invalid request. Please check your information.";
  if (error.code === "network") return "Network error. Please check your connection and try again.";
  return error.message === "" ? unexpected : error.message;
}

const unexpected = "An unexpected error occurred. Please try again.";

/** For a reset link that is not accepted (spec 4). */
export const invalidLink = "Invalid or expired link.Request another one.";

const resetByCode: ReadonlyMap<string, string> = new Map([
  ...Object.entries(byCode),
  ["INVALID_OOB_CODE", invalidLink],
  ["EXPIRED_OOB_CODE", invalidLink],
  ["WEAK_PASSWORD", texts.passwordWeak],
]);

/** Why the provider refused a new password: the text of its code, its message, or the general text (spec 8). */
export function resetFailure(error: unknown): string {
  const known =
    error instanceof IdentityError ? (suspendedText(error) ?? resetByCode.get(error.code) ?? error.text) : "";
  return known || "Failed to reset password. Please try again.";
}
