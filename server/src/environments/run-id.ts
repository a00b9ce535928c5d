import { sql } from "kysely";
import type { Environment } from "./environment.ts";

/** What drivers call the runs of an environment: its own id, until a fresh start leaves a run behind (G202). */
export function runIdOf({ id, run_id }: Pick<Environment, "id" | "run_id">): string {
  return run_id ?? id;
}

/** The same, of the environments in the enclosing query. */
export const runId = sql<string>`coalesce(run_id, id)`;
