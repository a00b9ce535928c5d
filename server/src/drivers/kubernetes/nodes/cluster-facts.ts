import type { V1Node, V1NodeList } from "@kubernetes/client-node";
import type { Capabilities } from "../../driver.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { gpuResource, unitResources } from "../pods/pod-body.ts";
import { modelOfNode } from "./model-of.ts";
import { quantityOf, timesIn } from "./quantity-of.ts";

export interface ClusterFacts {
  readonly gpus: Capabilities["gpus"];
  /** The node of each GPU slot. */
  readonly nodes: ReadonlyMap<string, string>;
  /** Those that offer nothing now. */
  readonly closedNodes: NonNullable<Capabilities["closedNodes"]>;
  /** Memory of all nodes for pods. */
  readonly memoryMb: number;
  /** How many CPU slots find room on the nodes. */
  readonly cpuRoom: number;
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

/** A node that is cordoned, or not ready, offers nothing; its slots come back with it. */
export function factsOf(nodes: readonly V1Node[], selector: NodeSelector, slotPrefix = ""): ClusterFacts {
  const usable = usableOf(nodes, selector);
  const gpus = usable.flatMap((node) => slotsOf(node, slotPrefix));
  return {
    gpus,
    nodes: new Map(gpus.map(({ id, node }) => [id, node])),
    closedNodes: nodes.filter((node) => isWanted(node, selector) && !usable.includes(node)).map(closedNode),
    memoryMb: sumOf(usable, ({ status }) => Math.floor(quantityOf(status?.allocatable?.["memory"]) / 2 ** 20)),
    cpuRoom: sumOf(usable, (node) => unitsOn(node, "cpu")),
  };
}

/** The nodes on which new runs may start. */
export function usableOf(nodes: readonly V1Node[], selector: NodeSelector): readonly V1Node[] {
  return nodes.filter((node) => {
    const { spec } = node;
    return isWanted(node, selector) && !spec?.unschedulable && readyOf(node)?.status === "True";
  });
}

function closedNode({ metadata, spec }: V1Node) {
  const node = metadata?.name ?? "";
  const reason = spec?.unschedulable
    ? `the node ${node} is cordoned: kubectl uncordon ${node}`
    : `the node ${node} is not ready: kubectl describe node ${node}`;
  return { node, reason };
}

export const isWanted = ({ metadata }: V1Node, selector: NodeSelector) =>
  Object.entries(selector).every(([name, value]) => metadata?.labels?.[name] === value);

/** The node's own word on whether it works: `True`, `False`, or `Unknown` when it gives no sign. */
export const readyOf = ({ status }: V1Node) => status?.conditions?.find(({ type }) => type === "Ready");

const sumOf = (nodes: readonly V1Node[], figure: (node: V1Node) => number) =>
  nodes.reduce((sum, node) => sum + figure(node), 0);

/** How many units a node has room for, when nothing else runs on it (G200). */
function unitsOn({ status }: V1Node, kind: "gpu" | "cpu"): number {
  const there = status?.allocatable ?? {};
  const { requests = {} } = unitResources(kind);
  return timesIn({ ...requests, pods: "1" }, (name) => {
    return there[name] !== undefined || name === gpuResource ? quantityOf(there[name]) : undefined;
  });
}

/** GPUs have no ids outside their node: the device plugin gives out any free one. So each node has numbered slots. */
function slotsOf(node: V1Node, prefix: string) {
  const name = node.metadata?.name ?? "";
  const model = modelOfNode(node);
  const slot = (index: number) => ({ id: `${prefix}${name}-gpu-${index + 1}`, ...model, node: name });
  return Array.from({ length: unitsOn(node, "gpu") }, (_, index) => slot(index));
}
