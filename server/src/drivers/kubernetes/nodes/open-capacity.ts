import type { V1Node, V1Pod, V1PodList, V1ResourceQuotaList } from "@kubernetes/client-node";
import type { Capabilities } from "../../driver.ts";
import { label, podsPath, quotasPath } from "../cluster/objects.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { factsOf, isWanted, type NodeSelector, type ReadNodes } from "./cluster-facts.ts";
import { type Autoscaler, expectedGpus, expectedPods, gpuNodes, isAwaited } from "./expected-gpus.ts";
import { quotaRoom } from "./quota-room.ts";

export interface CapacityDeps {
  readonly cluster: Cluster;
  readonly install: string;
  readonly nodes: ReadNodes;
  readonly nodeSelector: NodeSelector;
  readonly slotPrefix?: string | undefined;
  readonly storageClass: string | undefined;
  /** Undefined: no node joins by itself. */
  readonly autoscaler: Autoscaler | undefined;
}

type Capacity = Pick<
  Capabilities,
  "gpu" | "gpus" | "nodes" | "closedNodes" | "memoryMb" | "room" | "newHomes" | "placed"
>;

/** What the cluster and the quotas of the namespace have room for, read once and again on `refresh`. A failure is not kept. */
export function openCapacity(deps: CapacityDeps): (refresh?: boolean) => Promise<Capacity> {
  let known: Promise<Capacity> | undefined;
  return (refresh = false) => {
    if (refresh) known = undefined;
    known ??= deps.cluster.withTimeout((signal) => readCapacity(deps, signal));
    known.catch(() => {
      known = undefined;
    });
    return known;
  };
}

async function readCapacity(deps: CapacityDeps, signal: AbortSignal): Promise<Capacity> {
  const { cluster, install, nodes, storageClass } = deps;
  const all = await nodes(signal, "now");
  // Pods before quotas: a run that begins in between makes the room smaller, never larger.
  const query = { labelSelector: `${label.install}=${install},${label.part}=run` };
  const { items: pods } = await cluster.call<V1PodList>({ path: podsPath(cluster), query, signal });
  const { items: quotas } = await cluster.call<V1ResourceQuotaList>({ path: quotasPath(cluster), signal });
  const { gpus, closedNodes, placed, memoryMb, cpuRoom } = gpusOf(deps, pods, all);
  const kind = gpus.length > 0 ? "gpu" : "cpu";
  const { room = Number.POSITIVE_INFINITY, newHomes } = quotaRoom(quotas, pods, { kind, storageClass });
  const least = kind === "cpu" ? Math.min(room, cpuRoom) : room;
  return {
    ...{ gpu: kind === "gpu" ? "plugin" : "none", gpus, memoryMb },
    nodes: all.map(({ metadata }) => metadata?.name ?? ""),
    ...(closedNodes.length > 0 && { closedNodes }),
    ...(placed.length > 0 && { placed }),
    ...(Number.isFinite(least) && { room: least }),
    ...(newHomes !== undefined && { newHomes }),
  };
}

/** The GPUs of the nodes that are there, and of those that may still come (G201). */
function gpusOf(
  { autoscaler, nodeSelector, slotPrefix }: CapacityDeps,
  pods: readonly V1Pod[],
  nodes: readonly V1Node[],
) {
  const expected = expectedPods(pods);
  const facts = factsOf(
    nodes.filter((node) => !isAwaited(node, expected)),
    nodeSelector,
    slotPrefix,
  );
  const joined = gpuNodes(nodes).filter((node) => isWanted(node, nodeSelector));
  const more = autoscaler ? expectedGpus(autoscaler, joined, expected) : [];
  const placed = expected.flatMap(({ id, expected, node }) => (node === undefined ? [] : [{ id, expected, node }]));
  return { ...facts, gpus: [...facts.gpus, ...more], placed };
}
