import { array, boolean, type infer as Infer, literal, nullable, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing, success } from "../wire.ts";

const signIn = object({
  id: string(),
  created_at: instant,
  /** Within the hour. */
  last_used_at: instant,
  user_agent: nullable(string()),
  /** The address that it began from. */
  ip: nullable(string()),
  by_passkey: boolean(),
  /** Name of the provider whose account it began with, such as Google. */
  provider: nullable(string()),
  /** Whether it is the caller's. */
  current: boolean(),
});
export type SignIn = Infer<typeof signIn>;

export const listSignIns = endpoint({
  method: "GET",
  path: "/settings/{user_id}/sign-ins",
  auth: "bearer",
  summary: "Open sign-ins, the last used first, fifty at most (G403)",
  body: nothing,
  reply: object({ status: literal("success"), sign_ins: array(signIn) }),
  errors: ["not_found"],
});

export const endSignIn = endpoint({
  method: "DELETE",
  path: "/settings/{user_id}/sign-ins/{sign_in_id}",
  auth: "bearer",
  summary: "Ends one sign-in with its environment grants (G403)",
  body: nothing,
  reply: success,
  errors: ["not_found"],
});

export const endOtherSignIns = endpoint({
  method: "DELETE",
  path: "/settings/{user_id}/sign-ins",
  auth: "bearer",
  summary: "Ends every sign-in but the caller's, and trust in browsers (G403)",
  body: nothing,
  reply: success,
  errors: ["not_found"],
});
