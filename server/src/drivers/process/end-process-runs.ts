import { join } from "node:path";
import type { Logger } from "../../logging/create-logger.ts";
import { checkSegment } from "../check-segment.ts";
import { endRun, longestGraceMs, processesOf } from "./process-run.ts";
import { runStates, usesOwnHome } from "./run-states.ts";

/**
 * Ends what the process driver left running on the homes of this data folder. With another driver nobody would: each would go
 * on beside the container of its environment, on the same files. Runs on another folder's homes are that folder's (G111).
 */
export async function endProcessRuns(directory: string, install: string, log: Logger): Promise<void> {
  const states = runStates(join(directory, "environments", checkSegment("environment", install)));
  const pathOf = (home: string) => join(directory, "homes", home);
  const own = (await states.list()).filter((state) => usesOwnHome(pathOf, state));
  const living = await Promise.all(own.map(async (state) => (await processesOf(state)).length > 0));
  await Promise.all(
    own.map(async (state) => {
      await endRun(state, longestGraceMs);
      await states.remove(state.id);
    }),
  );
  const count = living.filter(Boolean).length;
  if (count > 0)
    log.warn({ event: "process.runs_ended", count }, "what ran as processes is ended, and starts again elsewhere");
}
