import { texts } from "@berth/contract";
import { expect, test } from "vitest";
import { ApiError } from "../api/call.ts";
import { IdentityError } from "../api/identity-client.ts";
import { notices } from "../content/notices.ts";
import { loginFailure, resetFailure, signUpFailure } from "./failure-text.ts";
import { returnPath } from "./return-path.ts";
import { isStrong, validateForgot, validateLogin, validateReset, validateSignUp } from "./validate-login.ts";

test.each([
  ["/environments?status=active", "/environments?status=active"],
  ["/", "/"],
  ["//evil.example", "/dashboard"],
  ["/\\evil.example", "/dashboard"],
  ["https://evil.example", "/dashboard"],
  ["javascript:alert(1)", "/dashboard"],
  ["", "/dashboard"],
  [null, "/dashboard"],
])("coming from %s leads to %s", (from, path) => {
  expect(returnPath(from)).toBe(path);
});

test("login wants both fields, then an address", () => {
  const required = { form: texts.requiredFields };
  expect(validateLogin({ email: "", password: "x" })).toEqual(required);
  expect(validateLogin({ email: " ", password: "x" })).toEqual(required);
  expect(validateLogin({ email: "ada@uni.example", password: "" })).toEqual(required);
  expect(validateLogin({ email: "ada", password: "x" })).toEqual({ email: notices.emailForm });
  expect(validateLogin({ email: " ada@uni.example ", password: "x" })).toEqual({});
});

test("a reset link wants an address", () => {
  expect(validateForgot({ email: " " })).toEqual({ email: texts.emailEmpty });
  expect(validateForgot({ email: "ada" })).toEqual({ email: notices.emailForm });
  expect(validateForgot({ email: " ada@uni.example " })).toEqual({});
});

test("sign-up wants equal passwords, then six characters", () => {
  const email = "ada@uni.example";
  expect(validateSignUp({ email, password: "", confirmation: "" })).toEqual({ form: texts.requiredFields });
  expect(validateSignUp({ email, password: "abc", confirmation: "abd" })).toEqual({
    confirmation: texts.passwordsDiffer,
  });
  expect(validateSignUp({ email, password: "abcde", confirmation: "abcde" })).toEqual({
    password: texts.passwordTooShort,
  });
  expect(validateSignUp({ email, password: "abcdef", confirmation: "abcdef" })).toEqual({});
});

test("a new password wants both fields, the same in both, then the checklist", () => {
  const error = (password: string, confirmation: string) => validateReset({ password, confirmation }).form;
  expect(error("", "")).toBe("Please fill in all fields");
  expect(error("Good pass 1!", "")).toBe("Please fill in all fields");
  expect(error("", "Good pass 1!")).toBe("Please fill in all fields");
  expect(error("weak", "Weak")).toBe("Passwords do not match");
  expect(error("weak", "weak")).toBe("Password does not meet security requirements");
  expect(error("Good pass 1!", "Good pass 1!")).toBeUndefined();
});

test.each<[password: string, strong: boolean]>([
  ["Abcdef1!", true],
  ["Abcde1!", false],
  ["abcdef1!", false],
  ["ABCDEF1!", false],
  ["Abcdefg!", false],
  ["Abcdefg1", false],
  ["Abcdefg1-", false],
  ["Éàcdef1!", false],
  ...[...'!@#$%^&*(),.?":{}|<>'].map((special) => [`Abcdef1${special}`, true] as [string, boolean]),
])("%s meets the checklist: %s", (password, strong) => {
  expect(isStrong(password)).toBe(strong);
});

test("reset failures are in our words", () => {
  const refused = (code: string, status = 400) => resetFailure(new IdentityError(code, status));
  expect(refused("EXPIRED_OOB_CODE")).toBe("Invalid or expired link.Request another one.");
  expect(refused("INVALID_OOB_CODE")).toBe("Invalid or expired link.Request another one.");
  expect(refused("WEAK_PASSWORD")).toBe("Password does not meet security requirements");
  expect(refused("TOO_MANY_ATTEMPTS_TRY_LATER", 429)).toBe(notices.tooManySignIns);
  expect(refused("NETWORK", 0)).toBe(notices.signInNoAnswer);
  expect(refused("UNAVAILABLE", 503)).toBe("Failed to reset password. Please try again.");
  expect(refused("toString")).toBe("Failed to reset password. Please try again.");
  expect(resetFailure(new Error("x"))).toBe("Failed to reset password. Please try again.");
});

test("login failures are in our words", () => {
  expect(loginFailure(new IdentityError("INVALID_LOGIN_CREDENTIALS", 400))).toBe(
    "Login failed. Please check your credentials.",
  );
  expect(loginFailure(new IdentityError("USER_DISABLED", 400))).toBe(notices.accountDisabled);
  expect(loginFailure(new IdentityError("SOMETHING", 429))).toBe(notices.tooManySignIns);
  expect(loginFailure(new IdentityError("NETWORK", 0))).toBe(notices.signInNoAnswer);
});

test("what the provider says in words is shown as it is, a code never (spec 8)", () => {
  const spoken = new IdentityError("UNAVAILABLE", 400, "The provider says no");
  expect(loginFailure(spoken)).toBe("The provider says no");
  expect(resetFailure(spoken)).toBe("The provider says no");
  expect(loginFailure(new IdentityError("OPERATION_NOT_ALLOWED", 400))).toBe(
    "Login failed. Please check your credentials.",
  );
});

test("sign-up failures are chosen by status and code", () => {
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
