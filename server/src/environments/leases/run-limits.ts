import type { Spec } from "../../drivers/driver.ts";
import type { Lease } from "./gpu-leases.ts";

/** Disk quota of one environment in gigabytes (10^9 bytes). */
export const diskGb = 50;

/** Memory limit of a run, for each of its GPUs or CPU slots. */
export const memoryMbOfUnit = 16_384;

/** The driver's spec for the leased units: the GPUs in the order of their ids, and a fair share of the machine for each unit. */
export function runLimits(leases: readonly Pick<Lease, "gpuId" | "kind">[]): Pick<Spec, "gpus" | "limits"> {
  const units = leases.length;
  const gpus = leases.filter(({ kind }) => kind === "gpu").map(({ gpuId }) => gpuId);
  return {
    gpus,
    limits: { cpus: 4 * units, memoryMb: memoryMbOfUnit * units, shmMb: 1024 * units, pids: 4096, diskGb },
  };
}
