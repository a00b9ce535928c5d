import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Capabilities, DriverError, type Stats } from "../../driver.ts";

/** Output of `nvidia-smi --query-gpu` or `--query-compute-apps`; empty where NVIDIA's driver is not installed. */
export type QueryGpus = (fields: string, of?: "gpu" | "compute-apps") => Promise<string>;

/** GPUs of a machine by UUID; none where NVIDIA's driver is not installed. Throws `unavailable` when it is, and broken. */
export async function hostGpus(query: QueryGpus = localQuery): Promise<Capabilities["gpus"]> {
  const rows = rowsOf(await query("uuid,name,memory.total"));
  return rows.map(([id = "", name = "", memory]) => ({
    id,
    model: name.replace(/^NVIDIA (GeForce )?/, ""),
    memoryMb: Number(memory),
  }));
}

/** Use of these GPUs now, in percent, MiB and watts; a figure that a model does not have is 0. */
export async function gpuUsage(ids: readonly string[], query: QueryGpus = localQuery): Promise<Stats["gpus"]> {
  if (!ids.some((id) => id.startsWith("GPU-"))) return [];
  return rowsOf(await query("uuid,utilization.gpu,memory.used,power.draw"))
    .map(([id = "", ...figures]) => {
      const [usePercent = 0, memoryMb = 0, watts = 0] = figures.map((figure) => Number(figure) || 0);
      return { id, usePercent, memoryMb, watts };
    })
    .filter(({ id }) => ids.includes(id));
}

/** Megabytes (2^20 bytes) that the driver itself may use of an idle GPU; every program on one takes more. */
const idleMb = 64;

/**
 * Leftover processes or memory on GPUs that no run should use, and GPUs that are gone: a reason by id, empty when clean.
 * Throws `unavailable` when nvidia-smi fails.
 */
export async function gpuLeftovers(
  ids: readonly string[],
  query: QueryGpus = localQuery,
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const [memory, processes] = await Promise.all([query("uuid,memory.used"), query("gpu_uuid,pid", "compute-apps")]);
  const reasons = ids.map((id) => {
    const own = rowsOf(memory).find(([uuid]) => uuid === id);
    const pids = rowsOf(processes)
      .filter(([uuid]) => uuid === id)
      .map(([, pid]) => pid);
    if (!own) return [id, "nvidia-smi no longer finds it"] as const;
    if (pids.length > 0) return [id, `process ${pids.join(", ")} still uses it`] as const;
    // NaN counts as in use.
    return [id, Number(own[1]) <= idleMb ? "" : `${own[1]} MB of its memory are still in use`] as const;
  });
  return new Map(reasons.filter(([, reason]) => reason !== ""));
}

/** UUIDs in the output of `nvidia-smi -L`. */
export function gpusListed(output: string): readonly string[] {
  return [...output.matchAll(/\(UUID: ([^)]+)\)/g)].map(([, uuid]) => uuid ?? "");
}

function rowsOf(text: string): string[][] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => line.split(",").map((field) => field.trim()));
}

async function localQuery(fields: string, of: "gpu" | "compute-apps" = "gpu"): Promise<string> {
  const args = [`--query-${of}=${fields}`, "--format=csv,noheader,nounits"];
  try {
    return (await promisify(execFile)("nvidia-smi", args, { timeout: 5_000 })).stdout;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A folder of PATH that may not be read turns "not found" into EACCES.
    if (code === "ENOENT" || code === "EACCES") return "";
    throw new DriverError("unavailable", `nvidia-smi cannot list the GPUs: ${message}`, { cause: error });
  }
}
