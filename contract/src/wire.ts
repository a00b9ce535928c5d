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
import { endedReasons, launchStages, statuses, waitReasons } from "./lifecycle.ts";

/** Schemas shared by several calls. Instants are ISO 8601 UTC (G67). */
export const instant = iso.datetime();
export const success = object({ status: literal("success") });
export const nothing = object({});

/** Reply of an endpoint with a `media`: content and file name. Sent as raw bytes, not as JSON. */
export const file = object({
  name: string(),
  content: custom<Uint8Array<ArrayBuffer>>((value) => value instanceof Uint8Array),
});
export type File = Infer<typeof file>;

/** User input. The server's JSON parser refuses NUL characters. */
export const typed = (max: number) => string().check(maxLength(max));

export const required = (max: number) => string().check(minLength(1), maxLength(max));

/** The id of a type of the catalogue, also of one that is no longer sold; the server knows which are. */
export const containerType = string().check(maxLength(40));
/** A currency's code; the catalogue says in which of them is sold. */
export const currency = string().check(maxLength(3));

/** One rented environment in lists (spec 3.2; additions have a G-number). */
export const container = object({
  type: containerType,
  status: choice(statuses),
  subdomain: string(),
  gpu_count: number(),
  duration_hours: number(),
  /** First response of JupyterLab; before that, the time of payment (G28). */
  created_at: instant,
  /** Null while pending and while an hourly plan is stopped (G24). */
  expires_at: nullable(instant),
  /** Prepaid seconds kept while stopped (G24). */
  banked_seconds: number(),
  /** The current stage while pending (G29). */
  stage: nullable(choice(launchStages)),
  /** Progress of the stage in percent, if known (preparing an image). */
  stage_percent: nullable(number()),
  /** What the start waits for while pending; after the end of a launch that was not delivered, why (G198). */
  waits_for: nullable(choice(waitReasons)),
  ended_reason: nullable(choice(endedReasons)),
  /** Until when the files of an ended environment are kept (G31). */
  files_until: nullable(instant),
  /** Whether its host can pause it. */
  can_pause: boolean(),
  /** How far its files have moved to another host, in percent; null while they stay. Meanwhile it cannot be started. */
  moving_percent: nullable(number()),
});

export type Container = Infer<typeof container>;

/** A payment in the profile (spec 3.3, G87). Amounts in major units. */
export const payment = object({
  amount: number(),
  status: choice(["paid", "pending", "failed", "refunded"]),
  created_at: instant,
  service_details: object({ container_type: string(), duration_hours: number() }),
});

/** A reply of which spec 7 promises only `Field`; the rest is ours, and the browser does without it (G303). */
export type Promised<T, Field extends keyof T> = Pick<T, Field> & {
  readonly [Own in Exclude<keyof T, Field>]?: T[Own] | null | undefined;
};

/** A name, a number of GPUs and an end have defaults (spec 3.2). */
export type PromisedContainer = Promised<Container, "type" | "status" | "created_at">;
