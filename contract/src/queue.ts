import { enum as choice, type infer as Infer, literal, nullable, number, object } from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { gpuCounts } from "./pricing.ts";
import { instant, nothing, success } from "./wire.ts";

/** How long a turn is held for who waited. */
export const turnMinutes = 10;

const place = object({
  gpu_count: number(),
  /** `held`: it is their turn, until `held_until`. `lapsed`: they let it pass. */
  state: choice(["waiting", "held", "lapsed"]),
  asked_at: instant,
  /** In line, 1 is next; 0 when it is not waiting. */
  position: number(),
  /** By what is known of those who have GPUs now; null where nothing is known. */
  expected_at: nullable(instant),
  held_until: nullable(instant),
});
export type QueuePlace = Infer<typeof place>;

const reply = object({ status: literal("success"), place: nullable(place) });

export const joinQueue = endpoint({
  method: "POST",
  path: "/environments/queue",
  auth: "bearer",
  summary: "Waits for GPUs, one place for each user; another count is a new place at the end (G86)",
  body: object({ gpu_count: literal([...gpuCounts]) }),
  reply,
  errors: ["out_of_stock", "too_many_gpus", "account_held"],
});

export const readQueue = endpoint({
  method: "GET",
  path: "/environments/queue",
  auth: "bearer",
  summary: "The signed-in user's place, null when there is none",
  body: nothing,
  reply,
  errors: [],
});

export const leaveQueue = endpoint({
  method: "DELETE",
  path: "/environments/queue",
  auth: "bearer",
  summary: "Gives the place up, and what is held for it; without one nothing changes",
  body: nothing,
  reply: success,
  errors: [],
});
