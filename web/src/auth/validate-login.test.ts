import { texts } from "@berth/contract";
import { expect, test } from "vitest";
import { commonTexts } from "../content/common-texts.ts";
import { isStrong, validateForgot, validateLogin, validateReset, validateSignUp } from "./validate-login.ts";

test("login requires both fields, then an address", () => {
  const required = { form: texts.requiredFields };
  expect(validateLogin({ email: "", password: "x" })).toEqual(required);
  expect(validateLogin({ email: " ", password: "x" })).toEqual(required);
  expect(validateLogin({ email: "ada@uni.example", password: "" })).toEqual(required);
  expect(validateLogin({ email: "ada", password: "x" })).toEqual({ email: commonTexts.emailForm });
  expect(validateLogin({ email: " ada@uni.example ", password: "x" })).toEqual({});
});

test("a reset link requires an address", () => {
  expect(validateForgot({ email: " " })).toEqual({ email: texts.emailEmpty });
  expect(validateForgot({ email: "ada" })).toEqual({ email: commonTexts.emailForm });
  expect(validateForgot({ email: " ada@uni.example " })).toEqual({});
});

test("sign-up requires equal passwords, then six characters", () => {
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

test("a new password requires both fields, equal, then the checklist", () => {
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
