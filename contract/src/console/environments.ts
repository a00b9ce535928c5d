import {
  array,
  boolean,
  enum as choice,
  type infer as Infer,
  literal,
  nullable,
  number,
  object,
  string,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { samplePoint } from "../environments/samples.ts";
import { desiredStates, endedReasons, launchStages, statuses } from "../lifecycle.ts";
import { containerType, currency, instant, nothing, typed } from "../wire.ts";
import { auditedAct } from "./audit.ts";
import { miningFinding } from "./mining.ts";
import { done, reason } from "./reason.ts";

/** From outside only: no file, no log, no address and no secret (G147). */
const summary = {
  id: string(),
  subdomain: string(),
  status: choice(statuses),
  desired: choice(desiredStates),
  container_type: containerType,
  gpu_count: number(),
  host_id: string(),
  user_id: string(),
  /** Null: the account was deleted. */
  email: nullable(string()),
  requested_at: instant,
  /** When JupyterLab answered first; null before. */
  created_at: nullable(instant),
  expires_at: nullable(instant),
  banked_seconds: number(),
  terminated_at: nullable(instant),
  ended_reason: nullable(choice(endedReasons)),
  last_error: nullable(string()),
};

const listedEnvironment = object(summary);
export type ListedEnvironment = Infer<typeof listedEnvironment>;

export const environmentsPerPage = 50;

/** What a list can be narrowed to; the first are all that have not ended. */
export const environmentFilters = ["living", ...statuses] as const;
export type EnvironmentFilter = (typeof environmentFilters)[number];

/** A search is a POST, so that ids and addresses stay out of the logs of proxies. */
export const searchEnvironments = endpoint({
  method: "POST",
  path: "/operator/api/environments/search",
  auth: "operator",
  summary: "Environments of a status, a host, a name or an owner, newest first, and the hosts there are",
  body: object({
    text: typed(320),
    status: choice(environmentFilters),
    host: typed(64),
    /** Id of the last environment of the page before; empty for the first page. */
    before: typed(64),
  }),
  reply: object({
    status: literal("success"),
    environments: array(listedEnvironment),
    more: boolean(),
    hosts: array(string()),
  }),
  errors: [],
});

const operatedEnvironment = object({
  ...summary,
  gpus: array(string()),
  /** The last minute that was measured, within an hour; null: none, as of one that does not run. */
  usage: nullable(samplePoint),
  /** Of the newest start. */
  stages: array(object({ stage: choice(launchStages), at: instant })),
  /** Whether the hours of a code paid for it (G332). */
  is_covered: boolean(),
  /** The newest first. */
  sessions: array(
    object({ id: string(), opened_at: instant, closed_at: nullable(instant), reason: nullable(string()) }),
  ),
  orders: array(object({ id: string(), status: string(), duration_hours: number() })),
  /** What its end would pay back now, by currency. */
  unused: array(object({ currency, minor: number() })),
  acts: array(auditedAct),
  /** What the mining detector found in it. */
  findings: array(miningFinding),
});
export type OperatedEnvironment = Infer<typeof operatedEnvironment>;

export const readOperatedEnvironment = endpoint({
  method: "GET",
  path: "/operator/api/environments/{id}",
  auth: "operator",
  summary: "One environment from outside: owner, orders, host, GPUs, times, launch stages, sessions, acts",
  body: nothing,
  reply: object({ status: literal("success"), environment: operatedEnvironment }),
  errors: ["not_found"],
});

export const environmentActs = ["stop", "terminate"] as const;
export type EnvironmentAct = (typeof environmentActs)[number];

export const actOnEnvironment = endpoint({
  method: "POST",
  path: "/operator/api/environments/{id}/{act}",
  auth: "operator",
  summary: "Stop or end an environment; its owner reads the reason. To end one, its name is typed",
  values: { act: environmentActs },
  body: object({
    reason,
    typed: typed(64),
    /** Whether an end pays the unused time back. */
    refund: boolean(),
  }),
  reply: done,
  errors: ["not_found", "action_not_allowed"],
});
