import {
  array,
  boolean,
  type infer as Infer,
  literal,
  nullable,
  number,
  object,
  optional,
  record,
  string,
  union,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing, typed } from "../wire.ts";

export const auditedAct = object({
  no: number(),
  at: instant,
  actor: string(),
  act: string(),
  subject: string(),
  reason: string(),
  details: record(string(), nullable(union([string(), number(), boolean()]))),
});
export type AuditedAct = Infer<typeof auditedAct>;

/** A search is a POST, so that ids and addresses stay out of the logs of proxies. */
export const searchAudit = endpoint({
  method: "POST",
  path: "/operator/api/audit/search",
  auth: "operator",
  summary: "What operators did, newest first, a hundred at most",
  body: object({ subject: typed(200), since: optional(instant) }),
  reply: object({ status: literal("success"), acts: array(auditedAct) }),
  errors: [],
});

const verified = object({
  status: literal("success"),
  /** Acts whose chain holds. */
  acts: number(),
  /** Hash of the last of them. */
  head: string(),
  /** Number of the first act that was changed or is missing. */
  broken: nullable(number()),
});
export type VerifiedAudit = Infer<typeof verified>;

export const checkAudit = endpoint({
  method: "GET",
  path: "/operator/api/audit/verify",
  auth: "operator",
  summary: "Compute the chain of hashes again",
  body: nothing,
  reply: verified,
  errors: [],
});
