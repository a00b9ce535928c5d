import {
  array,
  boolean,
  enum as choice,
  extend,
  literal,
  maxLength,
  nullable,
  number,
  object,
  optional,
  regex,
  string,
} from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { actions, launchStages, stopReasons } from "../lifecycle.ts";
import { container, currency, instant, nothing, success } from "../wire.ts";
import { doneNotice } from "./done-notice.ts";
import { idleStop } from "./idle-stop.ts";
import { portNumber } from "./ports.ts";
import { share } from "./shares.ts";

export const actOnContainer = endpoint({
  method: "POST",
  path: "/docker/{action}_container/{container_id}/{user_id}",
  auth: "bearer",
  summary: "Pauses, stops, restarts or starts an environment; idempotent (G25)",
  values: { action: actions },
  body: nothing,
  reply: success,
  errors: ["not_found", "action_not_allowed", "out_of_stock"],
});

export const environmentDetail = endpoint({
  method: "GET",
  path: "/environments/{id}",
  auth: "bearer",
  summary: "One environment with its secret and launch stages, for its owner (G86)",
  body: nothing,
  reply: object({
    status: literal("success"),
    environment: extend(container, {
      id: string(),
      url: string(),
      /** The environment's secret: the hint's password, and a token for scripts (G40, G95). Null once terminated. */
      jupyter_token: nullable(string()),
      session_id: nullable(string()),
      /** Newest first, at most ten; an open one has no end (G22). */
      sessions: array(
        object({ id: string(), opened_at: instant, closed_at: nullable(instant), reason: nullable(string()) }),
      ),
      /** The order that launched it. */
      order_id: string(),
      /** Hours of its orders that were not paid back, with bonuses and extensions, and what is left of their payments. */
      booked: optional(object({ hours: number(), paid: array(object({ currency, amount: number() })) })),
      /** Receipts of the launch and of extensions, oldest first (G70). */
      receipts: array(string()),
      /** Size of its files in 10^6 bytes, as last measured; null if they were never measured, or are deleted. */
      home_mb: nullable(number()),
      /** The provider's id of the payment that bought it (G70). */
      payment_reference: nullable(string()),
      /** Share links, newest first (G50). */
      shares: array(share),
      idle_stop: idleStop,
      done_notice: doneNotice,
      /** Why it was stopped automatically; null if its owner stopped it, and once it runs again. */
      stop_reason: nullable(choice(stopReasons)),
      /** Its machine has given no sign since then: its clock stands, and it may be ended for a refund of the rest. */
      lost_since: nullable(instant),
      /** Its machine gives no sign: it can be given an empty home on another one (G202). */
      may_start_fresh: boolean(),
      generation: number(),
      /** Completed stages of this generation; `ordered` and `paid` are copied from the order. */
      stages: array(object({ stage: choice(launchStages), at: instant })),
      /** As detected by the driver; null on a machine without a GPU (G37). */
      gpu: nullable(object({ model: string(), memory_mb: number(), count: number() })),
      isolation: nullable(choice(["bubblewrap", "container", "gvisor", "kata", "none"])),
    }),
  }),
  errors: ["not_found"],
});

export const startEnvironment = endpoint({
  method: "POST",
  path: "/environments/{id}/start",
  auth: "bearer",
  summary: "Starts a stopped environment like `start`; `without_settings` ignores the settings in its home (G106)",
  body: object({ without_settings: boolean() }),
  reply: success,
  errors: ["not_found", "action_not_allowed", "out_of_stock"],
});

export const startFresh = endpoint({
  method: "POST",
  path: "/environments/{id}/start_fresh",
  auth: "bearer",
  summary:
    "Starts an environment whose machine gives no sign on another one, with an empty home and the time left; its former files are kept (G202, G203)",
  body: nothing,
  reply: success,
  errors: ["not_found", "action_not_allowed", "out_of_stock"],
});

export const terminate = endpoint({
  method: "POST",
  path: "/environments/{id}/terminate",
  auth: "bearer",
  summary: "Terminates an environment; `confirm` must be its subdomain (G27, G86)",
  body: object({ confirm: string().check(maxLength(64)) }),
  reply: success,
  errors: ["not_found", "action_not_allowed"],
});

export const cancelLaunch = endpoint({
  method: "POST",
  path: "/environments/{id}/cancel",
  auth: "bearer",
  summary: "Cancels a pending environment: refunds in full, releases GPUs and name (G75)",
  body: nothing,
  reply: success,
  errors: ["not_found", "action_not_allowed"],
});

export const signInCode = endpoint({
  method: "POST",
  path: "/environments/{id}/sign-in-code",
  auth: "bearer",
  summary:
    "A one-time code, valid for 30 s, that the gateway exchanges for a cookie; `id` is an environment id or subdomain. `visit` is the gateway's query parameter, which binds the code to one browser; a code without it is for programs. With a `port` the code is for that port's own host (G385)",
  body: object({ visit: optional(string().check(regex(/^[\w-]{43}$/))), port: optional(portNumber) }),
  reply: object({ status: literal("success"), code: string(), url: string(), expires_at: instant }),
  errors: ["not_found"],
});
