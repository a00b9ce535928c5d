import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Capabilities, DriverError, type Stats } from "./driver.ts";

/** The rows of `nvidia-smi --query-gpu`; empty where NVIDIA's driver is not installed. */
export type QueryGpus = (fields: string) => Promise<string>;

/** GPUs of a machine by UUID; none where NVIDIA's driver is not installed. Throws `unavailable` when it is, and broken. */
export async function hostGpus(query: QueryGpus = localQuery): Promise<Capabilities["gpus"]> {
  const rows = rowsOf(await query("uuid,name,memory.total"));
  return rows.map(([id = "", name = "", memory]) => ({
    id,
    model: name.replace(/^NVIDIA (GeForce )?/, ""),
    memoryMb: Number(memory),
  }));
}

/** What these GPUs do now, in percent, MiB and watts; a figure that a model does not have is 0. */
export async function gpuUsage(ids: readonly string[], query: QueryGpus = localQuery): Promise<Stats["gpus"]> {
  if (!ids.some((id) => id.startsWith("GPU-"))) return [];
  return rowsOf(await query("uuid,utilization.gpu,memory.used,power.draw"))
    .map(([id = "", ...figures]) => {
      const [usePercent = 0, memoryMb = 0, watts = 0] = figures.map((figure) => Number(figure) || 0);
      return { id, usePercent, memoryMb, watts };
    })
    .filter(({ id }) => ids.includes(id));
}

function rowsOf(text: string): string[][] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines.map((line) => line.split(",").map((field) => field.trim()));
}

async function localQuery(fields: string): Promise<string> {
  const args = [`--query-gpu=${fields}`, "--format=csv,noheader,nounits"];
  try {
    return (await promisify(execFile)("nvidia-smi", args, { timeout: 5_000 })).stdout;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return "";
    throw new DriverError("unavailable", `nvidia-smi does not say what GPUs there are: ${message}`, { cause: error });
  }
}
