import { enum as choice, type infer as Infer, literal, nullable, number, object, string } from "zod/mini";
import { endpoint } from "./endpoint.ts";
import { instant, nothing, success } from "./wire.ts";

/** How long a link works, unless it is taken back before. */
export const shareHours = { "1h": 1, "24h": 24, "7d": 168 } as const;
export const shareTerms = ["1h", "24h", "7d"] as const;
export type ShareTerm = (typeof shareTerms)[number];

/** Links of one environment that work at once. */
export const mostShares = 5;

/** One link that works. Its address is shown once, when it is made. */
export const share = object({
  id: string(),
  created_at: instant,
  expires_at: instant,
  /** How often somebody came in by it. */
  views: number(),
  last_viewed_at: nullable(instant),
});
export type Share = Infer<typeof share>;

export const shareEnvironment = endpoint({
  method: "POST",
  path: "/environments/{id}/share",
  auth: "bearer",
  summary:
    "A link that lets whoever has it into JupyterLab of one environment; its address is answered this once (G50)",
  body: object({ term: choice(shareTerms) }),
  reply: object({ status: literal("success"), share, url: string() }),
  errors: ["not_found", "action_not_allowed"],
});

export const rotateSecret = endpoint({
  method: "POST",
  path: "/environments/{id}/rotate-secret",
  auth: "bearer",
  summary: "Draws a new jupyter_token; whoever came in by the old one is out within two seconds (G95, G109)",
  body: nothing,
  reply: object({ status: literal("success"), jupyter_token: string() }),
  errors: ["not_found", "action_not_allowed"],
});

export const revokeShare = endpoint({
  method: "DELETE",
  path: "/environments/{id}/share/{share_id}",
  auth: "bearer",
  summary: "Takes a share link back; whoever came in by it is out within two seconds (G50)",
  body: nothing,
  reply: success,
  errors: ["not_found"],
});
