import { DriverError, type Stats } from "../../driver.ts";
import { ExecFailure, execOutput } from "../cluster/exec-in-pod.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { labContainer } from "./pod-body.ts";

/** Longer than other operations: a run that uses all its cores leaves little CPU for the check. */
const limitMs = 30_000;
/** No folder that the owner can write. */
const safePath = "PATH=/usr/local/nvidia/bin:/usr/local/bin:/usr/bin:/bin";
/** Not found, not executable, killed for lack of memory: inconclusive about the GPUs. */
const inconclusiveCodes = [126, 127, 137];

/**
 * As `Driver.gpuFault`: `nvidia-smi -L` inside the run must list as many GPUs as it has. The API starts programs as the
 * run's own user only, so its owner can make the check inconclusive.
 */
export async function gpuFault(
  cluster: Cluster,
  pod: string,
  slots: readonly string[],
  withinMs = limitMs,
): Promise<string | undefined> {
  if (slots.length === 0) return undefined;
  const signal = AbortSignal.timeout(withinMs);
  const command = ["env", safePath, "nvidia-smi", "-L"];
  try {
    const listed = await execOutput(cluster, { pod, container: labContainer, command, signal });
    const count = [...listed.matchAll(/^GPU \d+:/gm)].length;
    return count >= slots.length ? undefined : `nvidia-smi finds ${count} of ${slots.length} GPUs`;
  } catch (error) {
    if (signal.aborted)
      throw new DriverError(
        "unavailable",
        `nvidia-smi did not end within ${withinMs / 1000} s inside, which is inconclusive`,
      );
    if (!(error instanceof ExecFailure)) throw cluster.explain(error);
    if (!inconclusiveCodes.includes(error.code))
      return `nvidia-smi ended with ${error.code}: ${lastLine(error.output)}`;
    throw new DriverError("unavailable", `nvidia-smi could not be run inside: ${lastLine(error.output)}`);
  }
}

const lastLine = (output: string) => (output.trim().split(/\s*\n/).at(-1) ?? "").slice(0, 200);

/** Use of a run's GPUs now, in percent, MiB and watts, in the order of its slots; empty where it cannot be read. */
export async function gpuUsage(
  cluster: Cluster,
  pod: string,
  slots: readonly string[],
  signal: AbortSignal,
): Promise<Stats["gpus"]> {
  if (slots.length === 0) return [];
  const fields = "--query-gpu=utilization.gpu,memory.used,power.draw";
  const command = ["env", safePath, "nvidia-smi", fields, "--format=csv,noheader,nounits"];
  const output = await execOutput(cluster, { pod, container: labContainer, command, signal }).catch((error) => {
    if (error instanceof ExecFailure) return "";
    throw error;
  });
  const rows = output.split("\n").filter((line) => line.trim() !== "");
  return rows.slice(0, slots.length).map((row, index) => {
    const [usePercent = 0, memoryMb = 0, watts = 0] = row.split(",").map((figure) => Number(figure) || 0);
    return { id: slots[index] ?? "", usePercent, memoryMb, watts };
  });
}
