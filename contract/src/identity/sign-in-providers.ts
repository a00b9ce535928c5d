import { array, boolean, type infer as Infer, literal, nullable, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { maxPasswordLength } from "../rules.ts";
import { instant, nothing, required, success } from "../wire.ts";

/** Of the page that the provider's answer leads to; works once, in the browser that began. */
const withCode = object({ code: required(100) });

/** A service that people may sign in with; begun at `/auth/providers/{key}/start`. */
const signInProvider = object({ key: string(), name: string() });
export type SignInProvider = Infer<typeof signInProvider>;

export const finishProviderSignIn = endpoint({
  method: "POST",
  path: "/auth/providers/finish",
  auth: "none",
  summary: "Ends a sign-in by another provider; access_token is a custom token for the sign-in (G416)",
  body: withCode,
  reply: object({ status: literal("success"), access_token: string(), email: string() }),
  errors: ["action_not_allowed", "account_held", "email_exists", "email_unverified"],
});

const linkedAccount = object({
  id: string(),
  provider: string(),
  /** At the provider, when it was last used; null: not confirmed there. */
  email: nullable(string()),
  created_at: instant,
  last_used_at: nullable(instant),
});
export type LinkedAccount = Infer<typeof linkedAccount>;

export const linkedAccounts = endpoint({
  method: "GET",
  path: "/settings/{user_id}/linked-accounts",
  auth: "bearer",
  summary: "Accounts of other providers that sign in to this one, and the providers that are offered (G419)",
  body: nothing,
  reply: object({
    status: literal("success"),
    linked_accounts: array(linkedAccount),
    providers: array(signInProvider),
    /** Whether the account has a password, without which no provider is connected or removed. */
    has_password: boolean(),
  }),
  errors: ["not_found"],
});

export const beginLink = endpoint({
  method: "POST",
  path: "/settings/{user_id}/linked-accounts",
  auth: "bearer",
  summary: "Begins to connect an account of a provider, by the password; `start` is the path to open (G419)",
  body: object({ provider: required(20), password: required(maxPasswordLength) }),
  reply: object({ status: literal("success"), start: string() }),
  errors: ["not_found", "wrong_password", "email_unverified", "action_not_allowed"],
});

export const finishLink = endpoint({
  method: "POST",
  path: "/settings/{user_id}/linked-accounts/finish",
  auth: "bearer",
  summary: "Connects the account that the provider named, to the account that began it (G419)",
  body: withCode,
  reply: object({ status: literal("success"), provider: string() }),
  errors: ["not_found", "email_unverified", "action_not_allowed"],
});

export const removeLink = endpoint({
  method: "DELETE",
  path: "/settings/{user_id}/linked-accounts/{link_id}",
  auth: "bearer",
  summary: "Disconnects an account of a provider, by the password, without which nobody could sign in (G419)",
  body: object({ password: required(maxPasswordLength) }),
  reply: success,
  errors: ["not_found", "wrong_password", "action_not_allowed"],
});
