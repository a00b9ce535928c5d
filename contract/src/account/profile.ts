import {
  boolean,
  literal,
  maxLength,
  minLength,
  nullable,
  number,
  object,
  optional,
  record,
  string,
  union,
} from "zod/mini";
import { endpoint, type ReplyOf } from "../endpoint.ts";
import { maxNameLength, maxPasswordLength, maxPhoneLength, signupPasswordLength, texts } from "../rules.ts";
import { container, type PromisedContainer, payment, typed } from "../wire.ts";

export const profile = endpoint({
  method: "GET",
  path: "/profile/{user_id}",
  auth: "bearer",
  summary: "Name, environments and payments of the signed-in user (spec 7.1)",
  body: object({}),
  reply: object({
    status: literal("success"),
    profile: object({ name: string(), email: string(), phone: string(), email_verified: boolean() }),
    user_data: object({
      containers: record(string(), container),
      payment_info: record(string(), payment),
    }),
    usage: object({
      /** From sessions and measured samples; null without data (G33). */
      average_session_seconds: nullable(number()),
      gpu_percent: nullable(number()),
      /** Hours actually used, as opposed to booked (G32), one decimal. */
      run_hours: number(),
    }),
  }),
  errors: ["not_found"],
});

type Profile = ReplyOf<typeof profile>;

/** What spec 3.1 and 7.1 promise of it (G303). */
export interface PromisedProfile {
  readonly profile?: Partial<Profile["profile"]> | null;
  readonly user_data?: {
    readonly containers?: Readonly<Record<string, PromisedContainer>> | null;
    readonly payment_info?: Profile["user_data"]["payment_info"] | null;
  } | null;
  readonly usage?: Profile["usage"];
}

const changed = object({ status: literal("success"), success: literal(true), message: string() });

export const updateProfile = endpoint({
  method: "PUT",
  path: "/profile/{user_id}/update",
  auth: "bearer",
  summary: "Changes name and phone (spec 7.1)",
  body: object({ name: typed(maxNameLength), phone: optional(typed(maxPhoneLength)) }),
  reply: changed,
  errors: ["not_found"],
});

const oldPassword = string().check(maxLength(maxPasswordLength));
const newPassword = string().check(
  minLength(signupPasswordLength, texts.passwordTooShort),
  maxLength(maxPasswordLength, `A password has at most ${maxPasswordLength} characters`),
);

/** Both password calls accept both spellings (G63): the specification's and the settings screen's. */
export const passwordChange = union(
  [
    object({ current_password: oldPassword, new_password: newPassword }),
    object({ currentPassword: oldPassword, newPassword }),
  ],
  "Give current_password and new_password, or currentPassword and newPassword",
);

export const updatePassword = endpoint({
  method: "POST",
  path: "/profile/{user_id}/update_password",
  auth: "bearer",
  summary: "Changes the password and ends every other sign-in (spec 7.1)",
  body: passwordChange,
  reply: changed,
  errors: ["not_found", "wrong_password", "weak_password"],
});
