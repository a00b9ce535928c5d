import { boolean, type infer as Infer, literal, nullable, object } from "zod/mini";
import { endpoint } from "../endpoint.ts";

/** `stop`: with the notice the environment is stopped, as its owner would stop it (G360). */
export const doneModes = ["notify", "stop"] as const;
export type DoneMode = (typeof doneModes)[number];

export const doneNotice = object({
  /** Null: off, as after the notice. */
  mode: nullable(literal([...doneModes])),
  /** Something has run since it was switched on. Until then there is nothing to tell. */
  has_run: boolean(),
});
export type DoneNotice = Infer<typeof doneNotice>;

export const setDoneNotice = endpoint({
  method: "PUT",
  path: "/environments/{id}/done-notice",
  auth: "bearer",
  summary: "Sets whether one notice comes when nothing runs any more, and a stop with it; null turns it off (G360)",
  body: object({ mode: nullable(literal([...doneModes])) }),
  reply: object({ status: literal("success"), done_notice: doneNotice }),
  errors: ["not_found", "action_not_allowed"],
});
