import { array, boolean, enum as choice, type infer as Infer, literal, nullable, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { maxPasswordLength } from "../rules.ts";
import { nothing, required, success, typed } from "../wire.ts";

/** Signing in to the operator's console (G143). Not in the tenants' bundle. */
export const operatorSession = endpoint({
  method: "GET",
  path: "/operator/api/session",
  auth: "operator",
  summary: "Who is signed in to the console, and whether GPUs, CPU slots or both are rented here",
  body: nothing,
  reply: object({ status: literal("success"), email: string(), unit: choice(["gpu", "cpu", "both"]) }),
  errors: [],
});

export const operatorSignIn = endpoint({
  method: "POST",
  path: "/operator/api/session",
  auth: "none",
  summary: "Sign in to the console; without a code where one is needed, nobody is signed in yet",
  body: object({ email: required(254), password: required(maxPasswordLength), code: typed(64) }),
  reply: object({ status: literal("success"), signed_in: boolean() }),
  errors: ["wrong_password", "action_not_allowed"],
});

export const operatorSignOut = endpoint({
  method: "DELETE",
  path: "/operator/api/session",
  auth: "operator",
  summary: "End this sign-in",
  body: nothing,
  reply: success,
  errors: [],
});

const openedLink = object({
  status: literal("success"),
  email: string(),
  /** Null where no second factor is needed. */
  second_factor: nullable(
    object({
      /** Base32, for typing. */
      secret: string(),
      /** A picture of the QR code, as a data URL. */
      picture: string(),
    }),
  ),
});
export type OpenedLink = Infer<typeof openedLink>;

export const openOperatorLink = endpoint({
  method: "POST",
  path: "/operator/api/link/open",
  auth: "none",
  summary: "Open a one-time link, which binds it to this browser and address",
  body: object({ link: required(128) }),
  reply: openedLink,
  errors: ["not_found", "action_not_allowed", "forbidden"],
});

export const spendOperatorLink = endpoint({
  method: "POST",
  path: "/operator/api/link/spend",
  auth: "none",
  summary: "Set the password and the second factor with a one-time link, and sign in",
  body: object({ link: required(128), password: typed(maxPasswordLength), code: typed(64) }),
  reply: object({ status: literal("success"), recovery_codes: array(string()) }),
  errors: ["not_found", "action_not_allowed", "forbidden", "weak_password", "wrong_password"],
});
