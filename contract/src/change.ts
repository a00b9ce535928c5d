import { enum as choice, type infer as Infer, nullable, object, string } from "zod/mini";

/** One event of `GET /events` (G92): the kind and id of what changed, which the browser refetches. */
export const change = object({
  kind: choice(["environment", "order", "notification", "home", "queue"]),
  id: nullable(string()),
});
export type Change = Infer<typeof change>;
