import { array, type infer as Infer, literal, nullable, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing, required, success, typed } from "../wire.ts";

/** Of one account. */
export const maxSshKeys = 20;
export const maxKeyNameLength = 60;

const sshKey = object({
  id: string(),
  name: string(),
  /** As in the key's line, such as ssh-ed25519. */
  type: string(),
  /** SHA256:..., as `ssh-keygen -l` prints it. */
  fingerprint: string(),
  created_at: instant,
  /** Within the minute; null before the first connection. */
  last_used_at: nullable(instant),
});
export type SshKey = Infer<typeof sshKey>;

export const listSshKeys = endpoint({
  method: "GET",
  path: "/settings/{user_id}/ssh-keys",
  auth: "bearer",
  summary: "The account's public SSH keys, the newest first (G410)",
  body: nothing,
  reply: object({ status: literal("success"), ssh_keys: array(sshKey) }),
  errors: ["not_found"],
});

export const addSshKey = endpoint({
  method: "POST",
  path: "/settings/{user_id}/ssh-keys",
  auth: "bearer",
  summary: "Adds a public SSH key; its owner is told by bell and mail (G410, G411)",
  body: object({
    /** Empty: the comment of the key. */
    name: typed(maxKeyNameLength),
    /** The one line of a `.pub` file. */
    public_key: required(16_384),
  }),
  reply: object({ status: literal("success"), ssh_key: sshKey }),
  errors: ["not_found", "action_not_allowed"],
});

export const removeSshKey = endpoint({
  method: "DELETE",
  path: "/settings/{user_id}/ssh-keys/{key_id}",
  auth: "bearer",
  summary: "Removes a public SSH key; its connections are closed within two seconds (G412)",
  body: nothing,
  reply: success,
  errors: ["not_found"],
});

const privateKey = /-{4,5} ?BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File|^b3BlbnNzaC1rZXktdjE/m;

/** Whether a text holds a private key, which nobody but its owner may see: a page does not even send it. */
export function isPrivateKey(text: string): boolean {
  return privateKey.test(text);
}

export const privateKeyRefusal =
  "This is a private key: never show it to anybody. Paste the line of the .pub file beside it.";
