import { sql } from "kysely";
import type { Loop } from "../../async/start-interval.ts";
import type { Changes } from "../../database/changes.ts";
import { fetchDue, nextDueMs, startWorker } from "../../database/work-queue.ts";
import { type MoveDeps, moveHome } from "./move-home.ts";
import { moveQueue } from "./move-queue.ts";
import { requestMoves } from "./request-moves.ts";

const intervalMs = 10_000;
/** Copies at the same time, of one worker: they share its network and its processor. */
const concurrency = 2;

/** Moves the files of hosts that an operator empties to other hosts (G195). */
export function startMoving(deps: Omit<MoveDeps, "stopping"> & { readonly changes: Changes }): Loop {
  const { db, drivers, changes, log } = deps;
  const stopping = new AbortController();
  const isOurs = sql`from_host = any(${[...drivers.keys()]})`;
  const loop = startWorker({
    ...{ name: "moves", changes, on: ["home"], intervalMs, log },
    fetch: async () => {
      await requestMoves(db);
      return await fetchDue(db, moveQueue, { where: isOurs, limit: concurrency });
    },
    work: (row) => moveHome({ ...deps, stopping: stopping.signal }, row),
    nextDueMs: () => nextDueMs(db, moveQueue, isOurs),
  });
  return {
    trigger: loop.trigger,
    stop() {
      stopping.abort();
      return loop.stop();
    },
  };
}
