import { type infer as Infer, literal, nullable, object } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing } from "../wire.ts";

/** Choices for the idle stop (docs/internals/runtime.md). */
export const idleMinutes = [30, 60, 120, 240] as const;
export type IdleMinutes = (typeof idleMinutes)[number];

/** The owner is notified this long before the idle stop. */
export const idleWarningMinutes = 10;
/** Delay of the idle stop by a snooze. */
export const idleSnoozeMinutes = 60;

export const idleStop = object({
  /** Null: idle stop is off. */
  minutes: nullable(literal([...idleMinutes])),
  /** Announced stop time, unless there is activity before. */
  stops_at: nullable(instant),
  /** No idle stop before this time. */
  snoozed_until: nullable(instant),
  /** The last time that is not known to be idle; null before the first measurement. */
  last_busy_at: nullable(instant),
});
export type IdleStop = Infer<typeof idleStop>;

const reply = object({ status: literal("success"), idle_stop: idleStop });

export const setIdleStop = endpoint({
  method: "PUT",
  path: "/environments/{id}/idle-stop",
  auth: "bearer",
  summary: "Sets the idle minutes before an automatic stop; null, the default, turns it off",
  body: object({ minutes: nullable(literal([...idleMinutes])) }),
  reply,
  errors: ["not_found", "action_not_allowed"],
});

export const snoozeIdleStop = endpoint({
  method: "POST",
  path: "/environments/{id}/idle-stop/snooze",
  auth: "bearer",
  summary: "Delays an announced idle stop by an hour; idempotent",
  body: nothing,
  reply,
  errors: ["not_found", "action_not_allowed"],
});
