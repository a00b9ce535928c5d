import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Capabilities, DriverError, type Stats } from "./driver.ts";

/** GPUs of this machine by UUID; none where NVIDIA's driver is not installed. Throws `unavailable` when it is, and broken. */
export async function hostGpus(): Promise<Capabilities["gpus"]> {
  const rows = await query("uuid,name,memory.total");
  return rows.map(([id = "", name = "", memory]) => ({
    id,
    model: name.replace(/^NVIDIA (GeForce )?/, ""),
    memoryMb: Number(memory),
  }));
}

/** What these GPUs do now, in percent, MiB and watts; a figure that a model does not have is 0. */
export async function gpuUsage(ids: readonly string[]): Promise<Stats["gpus"]> {
  if (!ids.some((id) => id.startsWith("GPU-"))) return [];
  const rows = await query("uuid,utilization.gpu,memory.used,power.draw");
  return rows
    .map(([id = "", ...figures]) => {
      const [usePercent = 0, memoryMb = 0, watts = 0] = figures.map((figure) => Number(figure) || 0);
      return { id, usePercent, memoryMb, watts };
    })
    .filter(({ id }) => ids.includes(id));
}

async function query(fields: string): Promise<string[][]> {
  const args = [`--query-gpu=${fields}`, "--format=csv,noheader,nounits"];
  try {
    const { stdout } = await promisify(execFile)("nvidia-smi", args, { timeout: 5_000 });
    const lines = stdout.split("\n").filter((line) => line.trim() !== "");
    return lines.map((line) => line.split(",").map((field) => field.trim()));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return [];
    throw new DriverError("unavailable", `nvidia-smi does not say what GPUs there are: ${message}`, { cause: error });
  }
}
