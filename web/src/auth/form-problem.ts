import { isEmail, passwordChecks, signupPasswordLength, texts } from "@berth/contract";
import { notices } from "../content/notices.ts";

export interface ResetFields {
  readonly password: string;
  readonly confirmation: string;
}

export interface SignUpFields {
  readonly email: string;
  readonly password: string;
  readonly confirmation: string;
}

export interface Problem {
  readonly field: "form" | keyof SignUpFields;
  readonly text: string;
}

/** Why a login is not sent, or undefined (spec 5). */
export function loginProblem({ email, password }: Pick<SignUpFields, "email" | "password">): Problem | undefined {
  if (email.trim() === "" || password === "") return { field: "form", text: texts.requiredFields };
  if (!isEmail(email.trim())) return { field: "email", text: notices.emailForm };
  return undefined;
}

/** Why a sign-up is not sent, or undefined; in the order of spec 5. */
export function signUpProblem({ email, password, confirmation }: SignUpFields): Problem | undefined {
  const problem = loginProblem({ email, password });
  if (problem) return problem;
  if (password !== confirmation) return { field: "confirmation", text: texts.passwordsDiffer };
  if (password.length < signupPasswordLength) return { field: "password", text: texts.passwordTooShort };
  return undefined;
}

/** Why a new password is not sent, or undefined; in the order of spec 5. Guards every way of submitting (G78). */
export function resetProblem({ password, confirmation }: ResetFields): string | undefined {
  if (password === "" || confirmation === "") return texts.resetFields;
  if (password !== confirmation) return texts.passwordsDiffer;
  return isStrong(password) ? undefined : texts.passwordWeak;
}

/** The whole checklist is met (G46). */
export function isStrong(password: string): boolean {
  return passwordChecks.every(({ met }) => met(password));
}
