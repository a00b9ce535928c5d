import type { Capacity, ProductConfig } from "@berth/contract";

/** A count on this machine: "2 × RTX 4070", or CPU slots without a GPU (G37). */
export function unitsOf(gpus: number, capacity: Capacity | undefined, config: ProductConfig | undefined): string {
  if (capacity?.kind === "cpu") return `${gpus} × CPU slot`;
  return `${gpus} × ${config?.gpu.model ?? "GPU"}`;
}
