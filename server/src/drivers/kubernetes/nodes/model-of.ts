import type { V1Node } from "@kubernetes/client-node";

interface GpuModel {
  readonly model: string;
  readonly memoryMb: number;
}

/** The model of a node's GPUs, by the labels of GPU feature discovery. */
export function modelOfNode({ metadata }: V1Node): GpuModel {
  const product = metadata?.labels?.["nvidia.com/gpu.product"] ?? "";
  return { model: nameOf(product), memoryMb: Number(metadata?.labels?.["nvidia.com/gpu.memory"] ?? 0) };
}

/** The model of GPUs that are not there yet: of this product, or as of the nodes that are. */
export function modelOf(product: string, nodes: readonly V1Node[]): GpuModel {
  const known = nodes.map(modelOfNode);
  const same = product === "" ? known[0] : known.find(({ model }) => model === nameOf(product));
  return same ?? { model: nameOf(product), memoryMb: 0 };
}

const nameOf = (product: string) => product.replace(/^NVIDIA-(GeForce-)?/, "").replaceAll("-", " ") || "GPU";
