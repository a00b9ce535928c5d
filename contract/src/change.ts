import { enum as choice, type infer as Infer, nullable, object, string } from "zod/mini";

/** One line of `GET /events` (G92): what changed, by id; the browser reads it again. */
export const change = object({
  kind: choice(["environment", "order", "notification", "home", "queue"]),
  id: nullable(string()),
});
export type Change = Infer<typeof change>;
