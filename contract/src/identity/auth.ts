import {
  boolean,
  enum as choice,
  email,
  literal,
  maxLength,
  minLength,
  nullable,
  object,
  optional,
  string,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { maxNameLength, maxPasswordLength, signupPasswordLength, texts } from "../rules.ts";
import { nothing, required, success, typed } from "../wire.ts";

export const validate = endpoint({
  method: "GET",
  path: "/auth/validate",
  auth: "bearer",
  summary: "Checks that the token is valid and not revoked (spec 7.1)",
  body: nothing,
  reply: success,
  errors: [],
});

export const signup = endpoint({
  method: "POST",
  path: "/auth/signup",
  auth: "none",
  summary: "Creates an account; access_token is a custom token for the sign-in (spec 7.1)",
  body: object({
    email: email().check(maxLength(254)),
    password: string().check(minLength(signupPasswordLength, texts.passwordTooShort), maxLength(maxPasswordLength)),
    name: optional(typed(maxNameLength)),
  }),
  reply: object({ status: literal("success"), access_token: string() }),
  errors: ["email_exists", "weak_password", "unavailable"],
});

export const logout = endpoint({
  method: "POST",
  path: "/auth/logout",
  auth: "bearer",
  summary: "Ends this sign-in and its environment grants (G86)",
  body: nothing,
  reply: success,
  errors: [],
});

export const resetPassword = endpoint({
  method: "POST",
  path: "/auth/reset-password",
  auth: "none",
  summary: "Mails a reset link if there is an account; the reply is the same for every valid address (G47)",
  body: object({ email: email().check(maxLength(254)) }),
  reply: success,
  errors: ["unavailable"],
});

export const verifyEmail = endpoint({
  method: "POST",
  path: "/auth/verify-email",
  auth: "bearer",
  summary: "Mails a link that verifies the caller's address; sends nothing if it is verified (G52)",
  body: nothing,
  reply: success,
  errors: ["unavailable"],
});

/** The identity provider in `GET /config`: base URLs of the Firebase REST API (docs/internals/identity.md). */
export const identityConfig = object({
  kind: choice(["local", "firebase"]),
  apiKey: string(),
  accountsUrl: string(),
  tokenUrl: string(),
  tenantId: optional(nullable(required(100))),
  /** Whether a sign-in by passkey is offered (G424). */
  passkeys: optional(boolean()),
});
