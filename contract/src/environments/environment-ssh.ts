import { array, boolean, type infer as Infer, int, literal, nullable, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { nothing } from "../wire.ts";

/** What a client needs for the way through the jump host. */
const sshConnection = object({
  jump_host: string(),
  jump_port: int(),
  /** As the jump host knows the environment: no name of the DNS. */
  host: string(),
  user: string(),
  command: string(),
  /** A part of ~/.ssh/config. */
  config: string(),
  /** Lines of ~/.ssh/known_hosts: the jump host's, and the environment's own while it runs. */
  known_hosts: array(string()),
});
export type SshConnection = Infer<typeof sshConnection>;

export const environmentSsh = endpoint({
  method: "GET",
  path: "/environments/{id}/ssh",
  auth: "bearer",
  summary: "How to reach an environment by SSH, as a client is configured for it (G413)",
  body: nothing,
  reply: object({
    status: literal("success"),
    /** Whether it answers now. */
    available: boolean(),
    /** Why not, in one sentence; null where it answers. */
    reason: nullable(string()),
    /** Null where the installation or the machine offers no SSH. */
    connection: nullable(sshConnection),
  }),
  errors: ["not_found"],
});
