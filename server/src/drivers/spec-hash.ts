import { createHash } from "node:crypto";
import type { Spec } from "./driver.ts";

/**
 * SHA-256 (hex) of the spec's canonical JSON: keys are sorted at every depth. `homeIsKept` changes between two starts of one
 * run and is left out.
 */
export function specHash({ homeIsKept: _, ...spec }: Spec): string {
  return createHash("sha256").update(canonical(spec)).digest("hex");
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(",")}}`;
}
