import { expect, test } from "vitest";
import { ApiError } from "../api/api-error.ts";
import { IdentityError } from "../api/identity-client.ts";
import { commonTexts } from "../content/common-texts.ts";
import { codeFailure, loginFailure, resetFailure, signUpFailure } from "./failure-text.ts";

test("reset failures have our texts", () => {
  const refused = (code: string, status = 400) => resetFailure(new IdentityError(code, status));
  expect(refused("EXPIRED_OOB_CODE")).toBe("Invalid or expired link.Request another one.");
  expect(refused("INVALID_OOB_CODE")).toBe("Invalid or expired link.Request another one.");
  expect(refused("WEAK_PASSWORD")).toBe("Password does not meet security requirements");
  expect(refused("TOO_MANY_ATTEMPTS_TRY_LATER", 429)).toBe(commonTexts.tooManySignIns);
  expect(refused("NETWORK", 0)).toBe(commonTexts.signInNoAnswer);
  expect(refused("UNAVAILABLE", 503)).toBe("Failed to reset password. Please try again.");
  expect(refused("toString")).toBe("Failed to reset password. Please try again.");
  expect(resetFailure(new Error("x"))).toBe("Failed to reset password. Please try again.");
});

test("login failures have our texts", () => {
  expect(loginFailure(new IdentityError("INVALID_LOGIN_CREDENTIALS", 400))).toBe(
    "Login failed. Please check your credentials.",
  );
  expect(loginFailure(new IdentityError("USER_DISABLED", 400))).toBe(commonTexts.accountDisabled);
  expect(loginFailure(new IdentityError("USER_DISABLED", 400, "Write to us."))).toBe("Write to us.");
  expect(loginFailure(new IdentityError("SOMETHING", 429))).toBe(commonTexts.tooManySignIns);
  expect(loginFailure(new IdentityError("NETWORK", 0))).toBe(commonTexts.signInNoAnswer);
});

test("a wrong code is told, and a sign-in that takes no more of them begins again", () => {
  const refused = (code: string, status = 400) => codeFailure(new IdentityError(code, status));
  expect(refused("INVALID_CODE")).toBe(commonTexts.wrongCode);
  expect(refused("INVALID_MFA_PENDING_CREDENTIAL")).toBeUndefined();
  expect(refused("TOO_MANY_ATTEMPTS_TRY_LATER", 429)).toBe(commonTexts.tooManySignIns);
  expect(refused("NETWORK", 0)).toBe(commonTexts.signInNoAnswer);
});

test("the provider's text is shown unchanged, its code never (spec 8)", () => {
  const spoken = new IdentityError("UNAVAILABLE", 400, "The provider says no");
  expect(loginFailure(spoken)).toBe("The provider says no");
  expect(resetFailure(spoken)).toBe("The provider says no");
  expect(loginFailure(new IdentityError("OPERATION_NOT_ALLOWED", 400))).toBe(
    "Login failed. Please check your credentials.",
  );
});

test("sign-up failures depend on status and code", () => {
  const refused = (status: number, message: string) => new ApiError("email_exists", message, status);
  expect(signUpFailure(refused(401, "x"))).toBe("Invalid credentials. Please check your email and password.");
  expect(signUpFailure(refused(400, "x"))).toBe("Invalid request. Please check your information.");
  expect(signUpFailure(new ApiError("network", "x", 0))).toBe(
    "Network error. Please check your connection and try again.",
  );
  expect(signUpFailure(refused(409, "This address is taken"))).toBe("This address is taken");
  expect(signUpFailure(refused(409, ""))).toBe("An unexpected error occurred. Please try again.");
  expect(signUpFailure(new Error("No access token received"))).toBe("No access token received");
  expect(signUpFailure(new IdentityError("INVALID_CUSTOM_TOKEN", 400))).toBe(
    "Failed to authenticate with the provided token",
  );
  expect(signUpFailure(undefined)).toBe("An unexpected error occurred. Please try again.");
});
