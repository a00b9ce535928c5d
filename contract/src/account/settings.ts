import { boolean, type infer as Infer, literal, object, optional, string } from "zod/mini";
import { endpoint, type ReplyOf } from "../endpoint.ts";
import { maxNameLength, maxPhoneLength } from "../rules.ts";
import { nothing, typed } from "../wire.ts";
import { passwordChange } from "./profile.ts";

const changed = object({ status: literal("success"), success: literal(true), message: string() });

export const flags = object({
  emailNotifications: boolean(),
  billingAlerts: boolean(),
  securityAlerts: boolean(),
  marketingEmails: boolean(),
  twoFactorAuth: boolean(),
});
export type Flags = Infer<typeof flags>;

export const settings = endpoint({
  method: "GET",
  path: "/settings/{user_id}",
  auth: "bearer",
  summary: "Profile and stored flags (spec 3.6, G63)",
  body: nothing,
  reply: object({
    status: literal("success"),
    profile: object({ name: string(), email: string(), phone: string() }),
    flags,
  }),
  errors: ["not_found"],
});

/** What spec 3.6 promises of it (G303). */
export interface PromisedSettings {
  readonly profile?: Partial<ReplyOf<typeof settings>["profile"]>;
  readonly flags?: Partial<Flags>;
}

export const settingsProfile = endpoint({
  method: "PUT",
  path: "/settings/{user_id}/profile",
  auth: "bearer",
  summary: "The same as PUT /profile/{user_id}/update (G63)",
  body: object({ name: typed(maxNameLength), phone: optional(typed(maxPhoneLength)) }),
  reply: changed,
  errors: ["not_found"],
});

export const settingsFlags = endpoint({
  method: "PUT",
  path: "/settings/{user_id}/flags",
  auth: "bearer",
  summary: "Changes only the given flags (G49); two-factor authentication cannot be set here",
  body: object({
    emailNotifications: optional(boolean()),
    billingAlerts: optional(boolean()),
    securityAlerts: optional(boolean()),
    marketingEmails: optional(boolean()),
  }),
  reply: changed,
  errors: ["not_found"],
});

export const settingsPassword = endpoint({
  method: "POST",
  path: "/settings/{user_id}/password",
  auth: "bearer",
  summary: "The same as POST /profile/{user_id}/update_password (G63)",
  body: passwordChange,
  reply: changed,
  errors: ["not_found", "wrong_password", "weak_password"],
});
