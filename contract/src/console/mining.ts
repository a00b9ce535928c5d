import { array, enum as choice, type infer as Infer, literal, nullable, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing } from "../wire.ts";
import { done, reason } from "./reason.ts";

/** What speaks for mining in one run of an environment, for a person to judge (G157). */
export const miningFinding = object({
  id: string(),
  environment_id: string(),
  subdomain: string(),
  user_id: string(),
  /** Null: the account was deleted. */
  email: nullable(string()),
  kind: choice(["program", "pool", "gpu"]),
  evidence: object({
    /** A clause such as "the program xmrig runs". */
    what: string(),
    /** Command lines, cut; they may have a wallet or a password of a pool (G165). */
    commands: array(string()),
  }),
  found_at: instant,
  seen_at: instant,
  state: choice(["open", "ended", "dismissed"]),
});
export type MiningFinding = Infer<typeof miningFinding>;

export const readMining = endpoint({
  method: "GET",
  path: "/operator/api/mining",
  auth: "operator",
  summary: "Environments that look like crypto mining and wait for a person, newest first",
  body: nothing,
  reply: object({ status: literal("success"), findings: array(miningFinding) }),
  errors: [],
});

export const dismissMining = endpoint({
  method: "POST",
  path: "/operator/api/mining/{id}/dismiss",
  auth: "operator",
  summary: "Note that a finding is no mining: it is not found again in that run",
  body: object({ reason }),
  reply: done,
  errors: ["not_found"],
});
