import { boolean, literal, maxLength, minLength, object, optional, string } from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { maxNameLength, maxPasswordLength, maxPhoneLength, signupPasswordLength } from "./rules.ts";
import { nothing, typed } from "./wire.ts";

const changed = object({ status: literal("success"), success: literal(true), message: string() });

export const settings = endpoint({
  method: "GET",
  path: "/settings/{user_id}",
  auth: "bearer",
  summary: "Profile and stored flags (spec section 3, G63)",
  body: nothing,
  reply: object({
    status: literal("success"),
    profile: object({ name: string(), email: string(), phone: string() }),
    flags: object({
      emailNotifications: boolean(),
      billingAlerts: boolean(),
      securityAlerts: boolean(),
      marketingEmails: boolean(),
      twoFactorAuth: boolean(),
    }),
  }),
  errors: ["not_found"],
});

export const settingsProfile = endpoint({
  method: "PUT",
  path: "/settings/{user_id}/profile",
  auth: "bearer",
  summary: "The same as PUT /profile/{user_id}/update (G63)",
  body: object({ name: typed(maxNameLength), phone: optional(typed(maxPhoneLength)) }),
  reply: changed,
  errors: ["not_found"],
});

export const settingsPassword = endpoint({
  method: "POST",
  path: "/settings/{user_id}/password",
  auth: "bearer",
  summary: "The same as POST /profile/{user_id}/update_password, with the settings screen's spelling (G63)",
  body: object({
    currentPassword: string().check(maxLength(maxPasswordLength)),
    newPassword: string().check(minLength(signupPasswordLength), maxLength(maxPasswordLength)),
  }),
  reply: changed,
  errors: ["not_found", "wrong_password", "weak_password"],
});
