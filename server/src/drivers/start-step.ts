import { DriverError, type Observed } from "./driver.ts";

/** What `start` has to do about the run it finds. `create` first removes whatever is there. */
export type StartStep = "none" | "resume" | "create";

/** The table of `Driver.start`, the same for every driver. Throws `stale` and `refused`. */
export function startStep(
  found: Observed,
  wanted: { readonly generation: number; readonly specHash: string },
): StartStep {
  if (found.state === "absent" || found.generation < wanted.generation) return "create";
  if (found.generation > wanted.generation) {
    throw new DriverError(
      "stale",
      `generation ${found.generation} is here already, ${wanted.generation} was asked for`,
    );
  }
  if (found.specHash !== wanted.specHash) {
    throw new DriverError("refused", `generation ${wanted.generation} is here already with another spec`);
  }
  if (found.state === "stopped") return "create";
  return found.state === "paused" ? "resume" : "none";
}
