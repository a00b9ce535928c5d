import { isEmail, passwordChecks, signupPasswordLength, texts } from "@berth/contract";
import { commonTexts } from "../content/common-texts.ts";

interface SignUpFields {
  readonly email: string;
  readonly password: string;
  readonly confirmation: string;
}

/** Errors by field, and `form` for the whole form. Empty if the form is valid. */
type Errors<Field extends string> = Readonly<Partial<Record<Field | "form", string>>>;

/** Spec 5. */
export function validateLogin({ email, password }: Pick<SignUpFields, "email" | "password">): Errors<"email"> {
  if (email.trim() === "" || password === "") return { form: texts.requiredFields };
  return isEmail(email.trim()) ? {} : { email: commonTexts.emailForm };
}

/** In the order of spec 5. */
export function validateSignUp({ email, password, confirmation }: SignUpFields): Errors<keyof SignUpFields> {
  const errors = validateLogin({ email, password });
  if (Object.keys(errors).length > 0) return errors;
  if (password !== confirmation) return { confirmation: texts.passwordsDiffer };
  return password.length < signupPasswordLength ? { password: texts.passwordTooShort } : {};
}

/** In the order of spec 5. Checked on every way of submitting (G78). */
export function validateReset({ password, confirmation }: Omit<SignUpFields, "email">): Errors<"form"> {
  if (password === "" || confirmation === "") return { form: texts.resetFields };
  if (password !== confirmation) return { form: texts.passwordsDiffer };
  return isStrong(password) ? {} : { form: texts.passwordWeak };
}

/** An empty address also shows a toast (spec 8). */
export function validateForgot({ email }: Pick<SignUpFields, "email">): Errors<"email"> {
  if (email.trim() === "") return { email: texts.emailEmpty };
  return isEmail(email.trim()) ? {} : { email: commonTexts.emailForm };
}

/** The whole checklist is met (G46). */
export function isStrong(password: string): boolean {
  return passwordChecks.every(({ met }) => met(password));
}
