import type { V1Node, V1NodeList } from "@kubernetes/client-node";
import type { Capabilities } from "../../driver.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { gpuResource } from "../pods/pod-body.ts";

export interface ClusterFacts {
  readonly gpus: Capabilities["gpus"];
  /** The node of each GPU slot. */
  readonly nodes: ReadonlyMap<string, string>;
  /** Memory of all nodes for pods. */
  readonly memoryMb: number;
}

/** Labels of the nodes that runs may use. */
export type NodeSelector = Readonly<Record<string, string>>;

/** All nodes of the cluster, at most three seconds old, because many runs of one node ask at once; `now` asks again. */
export type ReadNodes = (signal: AbortSignal, now?: "now") => Promise<readonly V1Node[]>;

const recentMs = 3_000;

export function nodeReader(cluster: Cluster): ReadNodes {
  const path = "/api/v1/nodes";
  const list = async (signal: AbortSignal) => (await cluster.call<V1NodeList>({ path, signal })).items;
  let known: { readonly at: number; readonly read: ReturnType<ReadNodes> } | undefined;
  return async (signal, now) => {
    if (known && now === undefined && performance.now() - known.at < recentMs) {
      const read = await known.read.catch(() => undefined);
      if (read) return read;
    }
    known = { at: performance.now(), read: list(signal) };
    return await known.read;
  };
}

/** GPUs and memory of the nodes, read once and again on `refresh`. A failure is not kept. */
export function openClusterFacts(
  cluster: Cluster,
  nodes: ReadNodes,
  selector: NodeSelector,
): (refresh?: boolean) => Promise<ClusterFacts> {
  let known: Promise<ClusterFacts> | undefined;
  return (refresh = false) => {
    if (refresh) known = undefined;
    known ??= cluster.withTimeout((signal) => nodes(signal, "now")).then((all) => factsOf(all, selector));
    known.catch(() => {
      known = undefined;
    });
    return known;
  };
}

/** A node that is cordoned, or not ready, offers nothing; its slots come back with it. */
export function factsOf(nodes: readonly V1Node[], selector: NodeSelector): ClusterFacts {
  const usable = usableOf(nodes, selector);
  const gpus = usable.flatMap(slotsOf);
  return {
    gpus,
    nodes: new Map(gpus.map(({ id, node }) => [id, node])),
    memoryMb: usable.reduce((sum, { status }) => sum + megabytes(status?.allocatable?.["memory"] ?? "0"), 0),
  };
}

/** The nodes on which new runs may start. */
export function usableOf(nodes: readonly V1Node[], selector: NodeSelector): readonly V1Node[] {
  return nodes.filter((node) => {
    const { metadata, spec } = node;
    const isWanted = Object.entries(selector).every(([name, value]) => metadata?.labels?.[name] === value);
    return isWanted && !spec?.unschedulable && readyOf(node)?.status === "True";
  });
}

/** The node's own word on whether it works: `True`, `False`, or `Unknown` when it gives no sign. */
export const readyOf = ({ status }: V1Node) => status?.conditions?.find(({ type }) => type === "Ready");

/** GPUs have no ids outside their node: the device plugin gives out any free one. So each node has numbered slots. */
function slotsOf({ metadata, status }: V1Node) {
  const count = Number(status?.allocatable?.[gpuResource] ?? 0);
  const product = metadata?.labels?.["nvidia.com/gpu.product"] ?? "";
  const memoryMb = Number(metadata?.labels?.["nvidia.com/gpu.memory"] ?? 0);
  const model = product.replace(/^NVIDIA-(GeForce-)?/, "").replaceAll("-", " ") || "GPU";
  const node = metadata?.name ?? "";
  return Array.from({ length: count }, (_, index) => ({ id: `${node}-gpu-${index + 1}`, model, memoryMb, node }));
}

const bytes = { "": 1, k: 1e3, Ki: 2 ** 10, M: 1e6, Mi: 2 ** 20, G: 1e9, Gi: 2 ** 30, T: 1e12, Ti: 2 ** 40 } as const;

/** Megabytes (2^20 bytes) of a quantity of Kubernetes, such as `16323952Ki`; 0 for what is none. */
function megabytes(quantity: string): number {
  const [, count = "0", unit = ""] = quantity.match(/^(\d+(?:\.\d+)?)([kMGT]i?|Ki)?$/) ?? [];
  return Math.floor((Number(count) * bytes[unit as keyof typeof bytes]) / 2 ** 20);
}
