import { join } from "node:path";
import type { Logger } from "../../logging/create-logger.ts";
import { checkSegment } from "../check-segment.ts";
import { endRun, processesOf } from "./process-run.ts";
import { runStates } from "./run-states.ts";

const graceMs = 5_000;

/**
 * Ends what the process driver left running on the homes of this data folder. With another driver nobody would: each would go
 * on beside the container of its environment, on the same files. Runs on another folder's homes are that folder's (G111).
 */
export async function endProcessRuns(directory: string, install: string, log: Logger): Promise<void> {
  const states = runStates(join(directory, "environments", checkSegment("environment", install)));
  const homes = join(directory, "homes");
  const own = (await states.list()).filter(({ home, homePath = join(homes, home) }) => homePath === join(homes, home));
  const living = await Promise.all(own.map(async (state) => (await processesOf(state)).length > 0));
  await Promise.all(
    own.map(async (state) => {
      await endRun(state, graceMs);
      await states.remove(state.id);
    }),
  );
  const count = living.filter(Boolean).length;
  if (count > 0)
    log.warn({ event: "process.runs_ended", count }, "what ran as processes is ended, and starts again elsewhere");
}
