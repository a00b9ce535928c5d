import { DriverError, type Observed } from "./driver.ts";

/** The step of `Driver.start` for the run that exists. `create` first removes it. */
export type StartStep = "none" | "resume" | "create";

/** The table in the comment of `Driver.start`, the same for every driver. Throws `stale` and `refused`. */
export function startStep(
  existing: Observed,
  wanted: { readonly generation: number; readonly specHash: string },
): StartStep {
  if (existing.state === "absent" || existing.generation < wanted.generation) return "create";
  if (existing.generation > wanted.generation) {
    throw new DriverError(
      "stale",
      `generation ${wanted.generation} is stale: generation ${existing.generation} exists`,
    );
  }
  if (existing.specHash !== wanted.specHash) {
    throw new DriverError("refused", `generation ${wanted.generation} exists with another spec`);
  }
  if (existing.state === "stopped") return "create";
  return existing.state === "paused" ? "resume" : "none";
}
