import { array, enum as choice, type infer as Infer, literal, nullable, number, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing, typed } from "../wire.ts";
import { done, reason } from "./reason.ts";

const host = object({
  id: string(),
  kind: string(),
  /** Null for the server's own machine. */
  address: nullable(string()),
  drained_at: nullable(instant),
  away_since: nullable(instant),
  lost_at: nullable(instant),
  unit: choice(["gpu", "cpu"]),
  /** GPUs, or CPU slots on a host without any. */
  gpus: number(),
  leased: number(),
  quarantined: number(),
  /** What the host has and does not offer now, and why; empty: there is no room for it. */
  withheld: number(),
  withheld_reason: string(),
  environments: number(),
  /** Folders of files that lie on it, of ended environments too. */
  homes: number(),
  /** Since when its files move to other hosts, as soon as nothing runs on them. */
  moving_since: nullable(instant),
  /** Why a move that failed will be tried again. */
  move_error: nullable(string()),
});
export type OperatedHost = Infer<typeof host>;

const gpu = object({
  id: string(),
  host_id: string(),
  /** Empty for a CPU slot. */
  model: string(),
  quarantined_at: nullable(instant),
  /** Empty for one that its host does not offer now. */
  quarantine_reason: string(),
  withheld_reason: string(),
  /** Who has it, in words; null while it is free. */
  holder: nullable(string()),
  /** What has leased it, with the name of an environment; an empty run of the warm pool is free. */
  lease: nullable(object({ kind: choice(["environment", "order", "queue"]), id: string(), name: string() })),
});
export type OperatedGpu = Infer<typeof gpu>;

export const readMachines = endpoint({
  method: "GET",
  path: "/operator/api/hosts",
  auth: "operator",
  summary: "Every host and GPU",
  body: nothing,
  reply: object({ status: literal("success"), hosts: array(host), gpus: array(gpu) }),
  errors: [],
});

export const hostActs = ["drain", "move", "undrain", "lose"] as const;
export type HostAct = (typeof hostActs)[number];

export const actOnHost = endpoint({
  method: "POST",
  path: "/operator/api/hosts/{id}/{act}",
  auth: "operator",
  summary: "Drain a host, move its files away too, undrain it, or give it up as lost; to lose one, its name is typed",
  values: { act: hostActs },
  body: object({ reason, typed: typed(64) }),
  reply: done,
  errors: ["action_not_allowed"],
});

export const gpuActs = ["quarantine", "release"] as const;
export type GpuAct = (typeof gpuActs)[number];

export const actOnGpu = endpoint({
  method: "POST",
  path: "/operator/api/gpus/{id}/{act}",
  auth: "operator",
  summary: "Stop leasing a GPU, or lease it again",
  values: { act: gpuActs },
  body: object({ reason }),
  reply: done,
  errors: ["action_not_allowed"],
});
