import type { Spec } from "../../drivers/driver.ts";
import type { Lease } from "./gpu-leases.ts";

/** What the files of one environment may take, in 10^9 bytes. */
export const diskGb = 50;

/** Of a run, for each GPU or CPU slot that it has. */
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
