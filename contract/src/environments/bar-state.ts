import { array, boolean, enum as choice, type infer as Infer, nullable, number, object, string } from "zod/mini";
import { currency, instant } from "../wire.ts";

/** What users of an environment's address get. */
export const availabilities = ["open", "starting", "paused", "stopped", "ended", "not_answering"] as const;
export type Availability = (typeof availabilities)[number];

/** The reply of `GET /_berth/state` at an environment's address, for the bar in JupyterLab (G392). */
export const barState = object({
  name: string(),
  availability: choice(availabilities),
  /** The server's time. */
  now: instant,
  /** What the page says while it is not open: "This environment was stopped", at, "by you", and what is kept. */
  closed: nullable(
    object({
      title: string(),
      /** When it was stopped or ended, or stopped answering. */
      at: nullable(instant),
      by: string(),
      text: string(),
      /** Nothing changes until somebody acts, so that it is asked for less often. */
      is_final: boolean(),
    }),
  ),
  /** Null for a guest. */
  rental: nullable(
    object({
      /** This and `booked` are null while the database is unavailable. */
      plan: nullable(choice(["hourly", "monthly"])),
      expires_at: nullable(instant),
      banked_seconds: number(),
      booked: nullable(
        object({
          seconds: number(),
          /** By currency, less what went back, and what of it is used at `now`. */
          paid: array(object({ currency, minor: number(), used_minor: number() })),
        }),
      ),
      page_url: string(),
      add_time_url: string(),
    }),
  ),
  /** The newest measurement, of a minute; null without one. */
  sample: nullable(
    object({
      cpu_cores: number(),
      memory_mb: number(),
      /** Means and sums over its GPUs; null without one. */
      gpu: nullable(object({ use_percent: number(), memory_mb: number(), total_memory_mb: number() })),
    }),
  ),
});
export type BarState = Infer<typeof barState>;
