import type { Stats } from "../../driver.ts";
import { ExecFailure, execOutput } from "../cluster/exec-in-pod.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { labContainer } from "./pod-body.ts";

/** No folder that the owner can write. */
const safePath = "PATH=/usr/local/nvidia/bin:/usr/local/bin:/usr/bin:/bin";
/**
 * Use of a run's GPUs now, in percent, MiB and watts, in the order of its slots; empty where it cannot be read. For its owner's
 * page: the owner can change what is said here, so it decides nothing (G313).
 */
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
