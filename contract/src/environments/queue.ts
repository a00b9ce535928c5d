import { enum as choice, type infer as Infer, literal, nullable, number, object } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing, success } from "../wire.ts";

/** Duration of a reservation for the next user in the queue. */
export const reservationMinutes = 10;

const userQueueEntry = object({
  gpu_count: number(),
  /** `held`: GPUs are reserved until `held_until`. `lapsed`: the reservation expired. */
  state: choice(["waiting", "held", "lapsed"]),
  asked_at: instant,
  /** Position in the queue, 1 is next; 0 if it is not waiting. */
  position: number(),
  /** Estimated from the end of current rentals; null if unknown. */
  expected_at: nullable(instant),
  held_until: nullable(instant),
});
export type UserQueueEntry = Infer<typeof userQueueEntry>;

const reply = object({ status: literal("success"), place: nullable(userQueueEntry) });

export const joinQueue = endpoint({
  method: "POST",
  path: "/environments/queue",
  auth: "bearer",
  summary: "Joins the queue for GPUs, once for each user; another count moves to the end (G86)",
  body: object({ gpu_count: number() }),
  reply,
  errors: ["out_of_stock", "too_many_gpus", "account_held"],
});

export const readQueue = endpoint({
  method: "GET",
  path: "/environments/queue",
  auth: "bearer",
  summary: "The signed-in user's position in the queue, null without one",
  body: nothing,
  reply,
  errors: [],
});

export const leaveQueue = endpoint({
  method: "DELETE",
  path: "/environments/queue",
  auth: "bearer",
  summary: "Leaves the queue and releases a reservation; without a position nothing changes",
  body: nothing,
  reply: success,
  errors: [],
});
