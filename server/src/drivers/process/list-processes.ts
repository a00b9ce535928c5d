import { readFile, readlink } from "node:fs/promises";
import type { RunProcess } from "../driver.ts";
import { processesOf } from "./process-run.ts";
import type { RunState } from "./run-states.ts";

/** The processes of a run with their command lines and programs; only their names where there is no /proc, and for those that have ended. */
export async function listProcesses(state: RunState): Promise<readonly RunProcess[]> {
  return await Promise.all(
    (await processesOf(state)).map(async ({ pid, name, inTerminal }) => {
      const args = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      const program = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
      return { pid, command: args.replaceAll("\0", " ").trim() || name, program, inTerminal };
    }),
  );
}
