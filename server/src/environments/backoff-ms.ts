import { backoffMs as doubled } from "../database/work-queue.ts";

/** After this many attempts: 1 s, doubled up to 60 s. */
export function backoffMs(attempts: number): number {
  return doubled(attempts, { firstMs: 1000, longestMs: 60_000 });
}
