import { expect, test } from "vitest";
import { passwordAdvice, validatePassword } from "./validate-password.ts";

const good = { current: "old one", next: "newone", confirmation: "newone" };

test.each([
  ["no current password", { current: "" }, "form", "Please fill in all required fields"],
  ["no new password", { next: "" }, "form", "Please fill in all required fields"],
  ["no confirmation", { confirmation: "" }, "form", "Please fill in all required fields"],
  ["another confirmation", { confirmation: "newtwo" }, "confirmation", "New passwords do not match"],
  ["five characters", { next: "five5", confirmation: "five5" }, "next", "Password must be at least 6 characters"],
  ["too many", { next: "x".repeat(257), confirmation: "x".repeat(257) }, "next", "At most 256 characters"],
])("%s is refused", (_, change, field, text) => {
  expect(validatePassword({ ...good, ...change })).toEqual({ [field]: text });
});

test("six characters suffice; the checklist is only advice (G46)", () => {
  expect(validatePassword(good)).toEqual({});
  expect(passwordAdvice("newone")).toBe(
    "Stronger with: at least 8 characters, one uppercase letter, one digit, one special character.",
  );
  expect(passwordAdvice("Newone1!")).toBe("A strong password.");
});
