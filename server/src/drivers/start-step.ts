import { DriverError, type Observed } from "./driver.ts";

/** What `Driver.start` does with the run that exists. `create` first removes it. */
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
      `generation ${existing.generation} is here already, ${wanted.generation} was asked for`,
    );
  }
  if (existing.specHash !== wanted.specHash) {
    throw new DriverError("refused", `generation ${wanted.generation} is here already with another spec`);
  }
  if (existing.state === "stopped") return "create";
  return existing.state === "paused" ? "resume" : "none";
}
