import { createHash } from "node:crypto";
import type { Spec } from "./driver.ts";

/**
 * SHA-256 (hex) of the spec's canonical JSON: keys sorted at every depth, so that the order of writing does not matter.
 * Whether the home was used before changes between two calls for one run, and is left out.
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
