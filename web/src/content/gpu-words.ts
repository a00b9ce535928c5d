import type { GpuModel } from "@berth/contract";
import { listed } from "../format.ts";

type Gpus = readonly GpuModel[];

/** "RTX 4070", "RTX 4070 or A100". */
export function gpuNames(gpus: Gpus): string {
  return listed(
    gpus.map(({ model }) => model),
    "disjunction",
  );
}

/** "RTX 4070 with 12GB VRAM". */
export function gpuSentence(gpus: Gpus): string {
  return listed(
    gpus.map(({ model, memoryGb }) => `${model} with ${memoryGb}GB VRAM`),
    "disjunction",
  );
}

/** "RTX 4070, 12GB VRAM each." */
export function gpuLine(gpus: Gpus): string {
  return gpus.map(({ model, memoryGb }) => `${model}, ${memoryGb}GB VRAM each.`).join(" ");
}

/** Memory of so many GPUs together: "24 GB", "24 to 160 GB". */
export function memoryOf(count: number, gpus: Gpus): string {
  const sizes = gpus.map(({ memoryGb }) => memoryGb * count);
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
  return least === most ? `${least} GB` : `${least} to ${most} GB`;
}
