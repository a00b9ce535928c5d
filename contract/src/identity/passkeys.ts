import {
  array,
  boolean,
  enum as choice,
  type infer as Infer,
  int,
  literal,
  nullable,
  object,
  optional,
  string,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { maxPasswordLength } from "../rules.ts";
import { instant, nothing, required, success, typed } from "../wire.ts";

/** What an account may have at once (G424). */
export const maxPasskeys = 10;

const publicKey = literal("public-key");

/** Proof of who adds or removes a passkey: a code where two-factor sign-in is on, else the password. */
const proof = { password: optional(required(maxPasswordLength)), code: optional(required(64)) };

/** One passkey in the list of its owner. */
const passkey = object({
  id: string(),
  name: string(),
  created_at: instant,
  last_used_at: nullable(instant),
  /** Kept by a password manager or an account of its maker, not in one device alone. */
  backed_up: boolean(),
});

export type Passkey = Infer<typeof passkey>;

/** PublicKeyCredentialCreationOptionsJSON of WebAuthn. */
const creationOptions = object({
  rp: object({ id: string(), name: string() }),
  user: object({ id: string(), name: string(), displayName: string() }),
  challenge: string(),
  pubKeyCredParams: array(object({ type: publicKey, alg: int() })),
  timeout: int(),
  excludeCredentials: array(object({ type: publicKey, id: string() })),
  authenticatorSelection: object({
    residentKey: literal("required"),
    requireResidentKey: literal(true),
    userVerification: literal("required"),
  }),
  attestation: literal("none"),
});

export type PasskeyCreationOptions = Infer<typeof creationOptions>;

/** PublicKeyCredentialRequestOptionsJSON of WebAuthn, without a list: the browser shows what it has. */
const requestOptions = object({
  rpId: string(),
  challenge: string(),
  timeout: int(),
  userVerification: literal("required"),
});

export type PasskeyRequestOptions = Infer<typeof requestOptions>;

/** RegistrationResponseJSON of WebAuthn, as far as it is read. Its texts are base64url. */
const newPasskey = object({
  id: required(1400),
  rawId: required(1400),
  type: publicKey,
  response: object({
    clientDataJSON: required(8192),
    attestationObject: required(32_768),
  }),
});

export type NewPasskey = Infer<typeof newPasskey>;

/** AuthenticationResponseJSON of WebAuthn, as far as it is read. */
const usedPasskey = object({
  id: required(1400),
  rawId: required(1400),
  type: publicKey,
  response: object({
    clientDataJSON: required(8192),
    authenticatorData: required(8192),
    signature: required(8192),
    userHandle: optional(nullable(typed(128))),
  }),
});

export type UsedPasskey = Infer<typeof usedPasskey>;

export const passkeys = endpoint({
  method: "GET",
  path: "/settings/{user_id}/passkeys",
  auth: "bearer",
  summary: "The account's passkeys, and what adding one asks for (G424)",
  body: nothing,
  reply: object({
    status: literal("success"),
    passkeys: array(passkey),
    /** Which of the two a change needs. */
    proof: choice(["password", "code"]),
    /** Why none can be added or used here; null: they can. */
    unavailable: nullable(string()),
  }),
  errors: ["not_found", "action_not_allowed"],
});

export const beginPasskey = endpoint({
  method: "POST",
  path: "/settings/{user_id}/passkeys/options",
  auth: "bearer",
  summary: "What the browser creates a passkey with, valid for five minutes and for this sign-in (G424)",
  body: object(proof),
  reply: object({ status: literal("success"), options: creationOptions }),
  errors: ["not_found", "wrong_password", "action_not_allowed"],
});

export const addPasskey = endpoint({
  method: "POST",
  path: "/settings/{user_id}/passkeys",
  auth: "bearer",
  summary: "Adds the passkey that the browser has created; its owner gets a mail (G424)",
  body: object({ name: required(60), credential: newPasskey }),
  reply: object({ status: literal("success"), passkey }),
  errors: ["not_found", "passkey_refused", "action_not_allowed"],
});

export const removePasskey = endpoint({
  method: "DELETE",
  path: "/settings/{user_id}/passkeys/{passkey_id}",
  auth: "bearer",
  summary: "Removes a passkey: it signs nobody in any more; its owner gets a mail (G424)",
  body: object(proof),
  reply: success,
  errors: ["not_found", "wrong_password", "action_not_allowed"],
});

export const beginPasskeySignIn = endpoint({
  method: "POST",
  path: "/auth/passkeys/sign-in/options",
  auth: "none",
  summary: "What the browser asks for a passkey with, valid for five minutes; the same for everybody (G424)",
  body: nothing,
  reply: object({ status: literal("success"), options: requestOptions }),
  errors: ["action_not_allowed"],
});

export const passkeySignIn = endpoint({
  method: "POST",
  path: "/auth/passkeys/sign-in",
  auth: "none",
  summary: "Signs in with a passkey, whose device has checked its owner: no code is asked then (G424)",
  body: object({ credential: usedPasskey }),
  reply: object({
    status: literal("success"),
    user_id: string(),
    email: string(),
    id_token: string(),
    refresh_token: string(),
    expires_in: int(),
  }),
  errors: ["passkey_refused", "action_not_allowed"],
});
