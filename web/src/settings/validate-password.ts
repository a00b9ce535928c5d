import { maxPasswordLength, passwordChecks, signupPasswordLength, texts } from "@berth/contract";

export interface PasswordFields {
  readonly current: string;
  readonly next: string;
  readonly confirmation: string;
}

/** Errors by field; `form` for the whole form. */
export type PasswordErrors = Readonly<Partial<Record<"form" | keyof PasswordFields, string>>>;

/** Empty if valid: all required, then equal, then sign-up's length (spec 5, G46). */
export function validatePassword({ current, next, confirmation }: PasswordFields): PasswordErrors {
  if (current === "" || next === "" || confirmation === "") return { form: texts.requiredFields };
  if (next !== confirmation) return { confirmation: texts.newPasswordsDiffer };
  if (next.length < signupPasswordLength) return { next: texts.passwordTooShort };
  return next.length > maxPasswordLength ? { next: `At most ${maxPasswordLength} characters` } : {};
}

/** The reset checklist as advice, not as a rule (G46). */
export function passwordAdvice(password: string): string {
  if (password === "") return "At least 6 characters. Better: 8 with upper and lower case, a digit and a sign.";
  const missing = passwordChecks.filter(({ met }) => !met(password)).map(({ label }) => label.toLowerCase());
  return missing.length === 0 ? "A strong password." : `Stronger with: ${missing.join(", ")}.`;
}
