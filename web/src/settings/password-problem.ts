import { maxPasswordLength, passwordChecks, signupPasswordLength, texts } from "@berth/contract";

export interface PasswordFields {
  readonly current: string;
  readonly next: string;
  readonly confirmation: string;
}

export interface Problem {
  readonly field: "form" | keyof PasswordFields;
  readonly text: string;
}

/** Why a change is not sent, or undefined: all required, then equal, then sign-up's length (spec 5.5, G46). */
export function passwordProblem({ current, next, confirmation }: PasswordFields): Problem | undefined {
  if (current === "" || next === "" || confirmation === "") return { field: "form", text: texts.requiredFields };
  if (next !== confirmation) return { field: "confirmation", text: texts.newPasswordsDiffer };
  if (next.length < signupPasswordLength) return { field: "next", text: texts.passwordTooShort };
  if (next.length > maxPasswordLength) return { field: "next", text: `At most ${maxPasswordLength} characters` };
  return undefined;
}

/** The reset checklist as advice, not as a rule (G46). */
export function passwordAdvice(password: string): string {
  if (password === "") return "At least 6 characters. Better: 8 with upper and lower case, a digit and a sign.";
  const missing = passwordChecks.filter(({ met }) => !met(password)).map(({ label }) => label.toLowerCase());
  return missing.length === 0 ? "A strong password." : `Stronger with: ${missing.join(", ")}.`;
}
