import { type infer as Infer, literal, nullable, object } from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { instant, nothing } from "./wire.ts";

/** After how long without work an environment may be stopped by itself (docs/internals/runtime.md). */
export const idleMinutes = [30, 60, 120, 240] as const;
export type IdleMinutes = (typeof idleMinutes)[number];

/** How long before it stops its owner is told. */
export const idleWarningMinutes = 10;
/** How much later it stops when its owner says "not yet". */
export const idleSnoozeMinutes = 60;

export const idleStop = object({
  /** Null: it is never stopped for being idle. */
  minutes: nullable(literal([...idleMinutes])),
  /** Told of: it stops then unless something runs before. */
  stops_at: nullable(instant),
  /** It does not stop before then. */
  snoozed_until: nullable(instant),
  /** The last moment that is not known to have been idle; null before the first look. */
  last_busy_at: nullable(instant),
});
export type IdleStop = Infer<typeof idleStop>;

const reply = object({ status: literal("success"), idle_stop: idleStop });

export const setIdleStop = endpoint({
  method: "PUT",
  path: "/environments/{id}/idle-stop",
  auth: "bearer",
  summary: "After how many idle minutes an environment stops by itself; null: never, as at first",
  body: object({ minutes: nullable(literal([...idleMinutes])) }),
  reply,
  errors: ["not_found", "action_not_allowed"],
});

export const snoozeIdleStop = endpoint({
  method: "POST",
  path: "/environments/{id}/idle-stop/snooze",
  auth: "bearer",
  summary: "An environment that is about to stop for being idle stops an hour later; repeating moves it no further",
  body: nothing,
  reply,
  errors: ["not_found", "action_not_allowed"],
});
