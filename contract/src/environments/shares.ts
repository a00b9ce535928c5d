import { enum as choice, type infer as Infer, literal, nullable, number, object, string } from "zod/mini";
import { endpoint } from "../endpoint.ts";
import { instant, nothing, success } from "../wire.ts";

/** Lifetime of a link, unless it is revoked before. */
export const shareHours = { "1h": 1, "24h": 24, "7d": 168 } as const;
export const shareTerms = ["1h", "24h", "7d"] as const;
export type ShareTerm = (typeof shareTerms)[number];

/** Limit of valid links per environment. */
export const maxShares = 5;

/** A valid link. Its URL is shown only at its creation. */
export const share = object({
  id: string(),
  created_at: instant,
  expires_at: instant,
  /** Number of sign-ins by it. */
  views: number(),
  last_viewed_at: nullable(instant),
});
export type Share = Infer<typeof share>;

export const shareEnvironment = endpoint({
  method: "POST",
  path: "/environments/{id}/share",
  auth: "bearer",
  summary: "Creates a share link to JupyterLab of one environment; its URL is returned only once (G50)",
  body: object({ term: choice(shareTerms) }),
  reply: object({ status: literal("success"), share, url: string() }),
  errors: ["not_found", "action_not_allowed"],
});

export const rotateSecret = endpoint({
  method: "POST",
  path: "/environments/{id}/rotate-secret",
  auth: "bearer",
  summary: "Replaces jupyter_token; connections by the old one are closed within two seconds (G95, G109)",
  body: nothing,
  reply: object({ status: literal("success"), jupyter_token: string() }),
  errors: ["not_found", "action_not_allowed"],
});

export const revokeShare = endpoint({
  method: "DELETE",
  path: "/environments/{id}/share/{share_id}",
  auth: "bearer",
  summary: "Revokes a share link; its connections are closed within two seconds (G50)",
  body: nothing,
  reply: success,
  errors: ["not_found"],
});
