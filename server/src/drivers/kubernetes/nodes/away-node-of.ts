import type { V1Node, V1Pod } from "@kubernetes/client-node";
import { type ReadNodes, readyOf } from "./cluster-facts.ts";

/** The node of a pod gives no sign, or its Node object is gone. */
export interface AwayNode {
  readonly name: string;
  /** Its last sign of life; undefined where the cluster no longer knows. */
  readonly since: Date | undefined;
  /** Nothing runs on it any more: the cluster says so, or the operator's time is over. */
  readonly isOff: boolean;
}

export interface AwayDeps {
  readonly nodes: ReadNodes;
  /** Seconds after which a node that gives no sign counts as switched off; undefined: only the cluster's word counts. */
  readonly moveAfter: number | undefined;
  /** As `Cluster.now`: the times of nodes are by that clock. */
  readonly now: () => number;
}

/**
 * The node of a pod when it is away. A pod that is ready is on a node that gives signs, because the cluster takes that
 * back, so only the nodes of others are looked up.
 */
export async function awayNodeOf(
  { nodes, moveAfter, now }: AwayDeps,
  { spec, status }: V1Pod,
  signal: AbortSignal,
): Promise<AwayNode | undefined> {
  const name = spec?.nodeName;
  const isReady = status?.conditions?.some((condition) => condition.type === "Ready" && condition.status === "True");
  const isOver = status?.phase === "Failed" || status?.phase === "Succeeded";
  if (!name || isReady || isOver) return undefined;
  const isIt = ({ metadata }: V1Node) => metadata?.name === name;
  // A node that has just joined is not in the older list.
  const node = (await nodes(signal)).find(isIt) ?? (await nodes(signal, "now")).find(isIt);
  return node ? awayNode(name, node, moveAfter, now()) : { name, since: undefined, isOff: true };
}

/** The kubelet reports its node this often at least. */
const heartbeatMs = 5 * 60_000;

/** A node that says itself that it is not ready still gives signs, and its pods may run. */
function awayNode(name: string, node: V1Node, moveAfter: number | undefined, now: number): AwayNode | undefined {
  const ready = readyOf(node);
  if (ready?.status !== "Unknown") return undefined;
  const noticedAt = new Date(ready.lastTransitionTime ?? 0).getTime();
  // The last sign is by the node's own clock.
  const signAt = Math.min(
    noticedAt,
    Math.max(noticedAt - heartbeatMs, new Date(ready.lastHeartbeatTime ?? 0).getTime()),
  );
  const isFenced = node.spec?.taints?.some(({ key }) => key === "node.kubernetes.io/out-of-service") ?? false;
  const isOld = moveAfter !== undefined && now - noticedAt >= moveAfter * 1000;
  return { name, since: new Date(signAt), isOff: isFenced || isOld };
}
