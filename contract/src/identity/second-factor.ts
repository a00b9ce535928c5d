import { array, enum as choice, int, literal, nullable, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { maxPasswordLength } from "../rules.ts";
import { instant, nothing, required, success } from "../wire.ts";

/** Six digits of the authenticator app, or a recovery code. */
const withCode = object({ code: required(64) });
const recoveryCodes = object({ status: literal("success"), recovery_codes: array(string()) });

export const secondFactor = endpoint({
  method: "GET",
  path: "/settings/{user_id}/second-factor",
  auth: "bearer",
  summary: "Whether sign-ins need a code, and how many recovery codes are left (G398)",
  body: nothing,
  reply: object({
    status: literal("success"),
    /** Null: off. */
    since: nullable(instant),
    recovery_codes: int(),
    /** Whether the operator offers it, or requires it of everybody. */
    mode: choice(["off", "optional", "required"]),
  }),
  errors: ["not_found", "action_not_allowed"],
});

export const beginSecondFactor = endpoint({
  method: "POST",
  path: "/settings/{user_id}/second-factor",
  auth: "bearer",
  summary:
    "A new secret for an authenticator app, valid for an hour; nothing changes until a code of it is confirmed (G398)",
  body: object({ password: required(maxPasswordLength) }),
  reply: object({
    status: literal("success"),
    /** Base32, for typing. */
    secret: string(),
    /** A picture of the QR code, as a data URL. */
    picture: string(),
  }),
  errors: ["not_found", "wrong_password", "action_not_allowed"],
});

export const confirmSecondFactor = endpoint({
  method: "POST",
  path: "/settings/{user_id}/second-factor/confirm",
  auth: "bearer",
  summary:
    "Turns the second factor on by a code of the app, ends every other sign-in, and shows ten recovery codes once (G398)",
  body: withCode,
  reply: recoveryCodes,
  errors: ["not_found", "wrong_password", "action_not_allowed"],
});

export const renewRecoveryCodes = endpoint({
  method: "POST",
  path: "/settings/{user_id}/second-factor/recovery-codes",
  auth: "bearer",
  summary: "Ten new recovery codes, shown once; the former ones stop working (G399)",
  body: withCode,
  reply: recoveryCodes,
  errors: ["not_found", "wrong_password", "action_not_allowed"],
});

export const removeSecondFactor = endpoint({
  method: "DELETE",
  path: "/settings/{user_id}/second-factor",
  auth: "bearer",
  summary: "Turns the second factor off by a code, and ends every other sign-in (G398)",
  body: withCode,
  reply: success,
  errors: ["not_found", "wrong_password", "action_not_allowed"],
});
