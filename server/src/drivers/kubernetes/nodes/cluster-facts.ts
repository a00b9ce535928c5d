import type { V1Node, V1NodeList } from "@kubernetes/client-node";
import type { Capabilities } from "../../driver.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { gpuResource } from "../pods/pod-body.ts";

export interface ClusterFacts {
  readonly gpus: Capabilities["gpus"];
  /** `nvidia.com/gpu.product` by GPU slot; empty where the node has no such label. */
  readonly products: ReadonlyMap<string, string>;
  /** Memory of all nodes for pods. */
  readonly memoryMb: number;
}

/** GPUs and memory of the nodes that runs may use, read once and again on `refresh`. A failure is not kept. */
export function openClusterFacts(
  cluster: Cluster,
  nodeSelector: Readonly<Record<string, string>>,
): (refresh?: boolean) => Promise<ClusterFacts> {
  let known: Promise<ClusterFacts> | undefined;
  const labelSelector = Object.entries(nodeSelector)
    .map(([name, value]) => `${name}=${value}`)
    .join(",");
  const read = async (signal: AbortSignal) => {
    const query = { labelSelector: labelSelector || undefined };
    return factsOf((await cluster.call<V1NodeList>({ path: "/api/v1/nodes", query, signal })).items);
  };
  return (refresh = false) => {
    if (refresh) known = undefined;
    known ??= cluster.withTimeout(read);
    known.catch(() => {
      known = undefined;
    });
    return known;
  };
}

/** A node that is cordoned, or not ready, offers nothing; its slots come back with it. */
export function factsOf(nodes: readonly V1Node[]): ClusterFacts {
  const usable = nodes.filter(({ spec, status }) => {
    return (
      !spec?.unschedulable && status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "True")
    );
  });
  const slots = usable.flatMap(slotsOf);
  return {
    gpus: slots.map(({ id, model, memoryMb }) => ({ id, model, memoryMb })),
    products: new Map(slots.map(({ id, product }) => [id, product])),
    memoryMb: usable.reduce((sum, { status }) => sum + megabytes(status?.allocatable?.["memory"] ?? "0"), 0),
  };
}

/** GPUs have no ids outside their node: the device plugin gives out any free one. So each node has numbered slots. */
function slotsOf({ metadata, status }: V1Node) {
  const count = Number(status?.allocatable?.[gpuResource] ?? 0);
  const product = metadata?.labels?.["nvidia.com/gpu.product"] ?? "";
  const memoryMb = Number(metadata?.labels?.["nvidia.com/gpu.memory"] ?? 0);
  const model = product.replace(/^NVIDIA-(GeForce-)?/, "").replaceAll("-", " ") || "GPU";
  return Array.from({ length: count }, (_, index) => {
    return { id: `${metadata?.name}-gpu-${index + 1}`, model, product, memoryMb };
  });
}

const bytes = { "": 1, k: 1e3, Ki: 2 ** 10, M: 1e6, Mi: 2 ** 20, G: 1e9, Gi: 2 ** 30, T: 1e12, Ti: 2 ** 40 } as const;

/** Megabytes (2^20 bytes) of a quantity of Kubernetes, such as `16323952Ki`; 0 for what is none. */
function megabytes(quantity: string): number {
  const [, count = "0", unit = ""] = quantity.match(/^(\d+(?:\.\d+)?)([kMGT]i?|Ki)?$/) ?? [];
  return Math.floor((Number(count) * bytes[unit as keyof typeof bytes]) / 2 ** 20);
}
