import {
  boolean,
  enum as choice,
  custom,
  type infer as Infer,
  iso,
  literal,
  maxLength,
  minLength,
  nullable,
  number,
  object,
  string,
} from "zod/mini";
import { endedReasons, launchStages, statuses } from "./lifecycle.ts";

/** Shapes that several calls share. Instants are ISO 8601 UTC (G67). */
export const instant = iso.datetime();
export const success = object({ status: literal("success") });
export const nothing = object({});

/** Bytes, and the name they are saved under: what a call with a `media` answers. They cross the wire as they are. */
export const file = object({
  name: string(),
  content: custom<Uint8Array<ArrayBuffer>>((value) => value instanceof Uint8Array),
});
export type File = Infer<typeof file>;

/** Text a person typed. NUL characters never get this far: the server's JSON parser refuses them. */
export const typed = (max: number) => string().check(maxLength(max));

export const required = (max: number) => string().check(minLength(1), maxLength(max));

export const containerTypes = ["jupyter", "pytorch", "tensorflow"] as const;
export type ContainerType = (typeof containerTypes)[number];

/** One rented environment as lists show it (spec 3.2; what stands beyond it has its G-number). */
export const container = object({
  type: choice(containerTypes),
  status: choice(statuses),
  subdomain: string(),
  gpu_count: number(),
  duration_hours: number(),
  /** When JupyterLab answered; before that, when it was paid (G28). */
  created_at: instant,
  /** Null while pending and while an hourly plan is stopped (G24). */
  expires_at: nullable(instant),
  /** Prepaid seconds kept while stopped (G24). */
  banked_seconds: number(),
  /** The stage being worked on while pending (G29). */
  stage: nullable(choice(launchStages)),
  /** Percent of the stage, where it is known (preparing an image). */
  stage_percent: nullable(number()),
  ended_reason: nullable(choice(endedReasons)),
  /** Until when the files of an ended environment are kept (G31). */
  files_until: nullable(instant),
  /** Whether its machine can freeze it; elsewhere Pause is off. */
  can_pause: boolean(),
});

export type Container = Infer<typeof container>;
