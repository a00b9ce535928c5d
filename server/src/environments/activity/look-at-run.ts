import type { RunProcess } from "../../drivers/driver.ts";
import { usesCpu, usesGpu } from "./activity.ts";
import type { JupyterActivity } from "./jupyter-idle-seconds.ts";
import type { Look } from "./next-quiet.ts";
import type { Sample } from "./samples.ts";

export interface Evidence {
  readonly sample: Sample;
  /** Undefined where JupyterLab did not respond, or the machine did not list its processes. */
  readonly jupyter: JupyterActivity | undefined;
  readonly processes: readonly RunProcess[] | undefined;
  /** Of the look before. */
  readonly before: { readonly usedCpu: boolean; readonly lastCells: JupyterActivity["lastCells"] | undefined };
}

/** What the measurements say of the run's work. One sign of work is enough; that there is none needs all of them (G361). */
export function lookAtRun({ sample, jupyter, processes, before }: Evidence): Look {
  const lasts = usesCpu(sample) && before.usedCpu;
  const isInTerminal = processes?.some(({ inTerminal }) => inTerminal) ?? false;
  if (jupyter?.isBusy || isInTerminal || usesGpu(sample) || lasts || hasRunCell(before.lastCells, jupyter))
    return "work";
  if (!jupyter || !processes) return "unknown";
  return usesCpu(sample) ? "load" : "nothing";
}

/** A cell that began and ended between two looks. A kernel that is new has only been opened. */
function hasRunCell(before: Evidence["before"]["lastCells"], jupyter: JupyterActivity | undefined): boolean {
  if (!before || !jupyter) return false;
  return [...jupyter.lastCells].some(([id, at]) => before.has(id) && before.get(id) !== at);
}
