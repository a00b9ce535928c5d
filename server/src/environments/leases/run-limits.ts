import type { Spec } from "../../drivers/driver.ts";
import { diskGb, unitLimits } from "../../drivers/unit-limits.ts";
import type { Lease } from "./gpu-leases.ts";

/** The driver's spec for the leased units: the GPUs in the order of their ids, and a fair share of the machine for each unit. */
export function runLimits(leases: readonly Pick<Lease, "gpuId" | "kind">[]): Pick<Spec, "gpus" | "limits"> {
  const units = leases.length;
  const gpus = leases.filter(({ kind }) => kind === "gpu").map(({ gpuId }) => gpuId);
  const { cpus, memoryMb, shmMb } = unitLimits;
  return {
    gpus,
    limits: { cpus: cpus * units, memoryMb: memoryMb * units, shmMb: shmMb * units, pids: 4096, diskGb },
  };
}
