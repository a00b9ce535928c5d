import type { V1Node, V1Pod } from "@kubernetes/client-node";
import type { Capabilities } from "../../driver.ts";
import { expectedNode, isExpectedNode } from "../../expected-node.ts";
import { annotation } from "../cluster/objects.ts";
import { gpuResource } from "../pods/pod-body.ts";
import { modelOf } from "./model-of.ts";
import { quantityOf } from "./quantity-of.ts";

/** What the cluster's autoscaler may add. */
export interface Autoscaler {
  /** How many nodes with GPUs there may be in all. */
  readonly nodes: number;
  /** GPUs of each. */
  readonly gpus: number;
  /** Their label `nvidia.com/gpu.product`; empty: as of those that are there. */
  readonly product: string;
}

/** A pod that was leased an expected node, and the real one that it got. */
interface ExpectedPod {
  readonly id: string;
  readonly expected: string;
  readonly node: string | undefined;
  /** Host names of the nodes that it may not use. */
  readonly except: readonly string[];
}

/** The pods of runs that were started for a node that was not there yet. */
export function expectedPods(pods: readonly V1Pod[]): readonly ExpectedPod[] {
  return pods.flatMap(({ metadata, spec, status }) => {
    const expected = metadata?.annotations?.[annotation.gpus]?.match(/^(.+?)-gpu-\d+(,|$)/)?.[1] ?? "";
    if (!isExpectedNode(expected) || status?.phase === "Failed" || status?.phase === "Succeeded") return [];
    const id = metadata?.annotations?.[annotation.environment] ?? "";
    return [{ id, expected, node: spec?.nodeName, except: exceptOf(spec) }];
  });
}

function exceptOf(spec: V1Pod["spec"]): readonly string[] {
  const terms = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const rules = terms.flatMap(({ matchExpressions = [] }) => matchExpressions);
  return rules.filter(({ operator }) => operator === "NotIn").flatMap(({ values = [] }) => values);
}

/**
 * GPUs of nodes that are not there yet. One that joins takes the place of one of them: of that which its pods were leased,
 * else of the last. Those that pods wait for stay as long as they can.
 */
export function expectedGpus(
  { nodes: most, gpus, product }: Autoscaler,
  joined: readonly V1Node[],
  pods: readonly ExpectedPod[],
): Capabilities["gpus"] {
  const arrived = new Set(pods.flatMap(({ expected, node }) => (node === undefined ? [] : [expected])));
  const awaited = new Set(pods.flatMap(({ expected, node }) => (node === undefined ? [expected] : [])));
  const numbers = Array.from({ length: most }, (_, index) => expectedNode(index + 1));
  const left = numbers
    .filter((name) => !arrived.has(name))
    .toSorted((one, other) => Number(awaited.has(other)) - Number(awaited.has(one)))
    .slice(0, Math.max(0, most - joined.length));
  const { model, memoryMb } = modelOf(product, joined);
  return left.flatMap((node) =>
    Array.from({ length: gpus }, (_, index) => ({ id: `${node}-gpu-${index + 1}`, model, memoryMb, node })),
  );
}

/** Nodes of GPUs, whatever their state: the autoscaler counts them. */
export function gpuNodes(nodes: readonly V1Node[]): readonly V1Node[] {
  return nodes.filter(({ status }) => quantityOf(status?.capacity?.[gpuResource]) > 0);
}

/** A node that a waiting pod may still get is nobody else's until then, so that no GPU is sold twice. */
export function isAwaited(joined: V1Node, pods: readonly ExpectedPod[]): boolean {
  const host = hostOf(joined);
  return pods.some(({ node, except }) => node === undefined && !except.includes(host));
}

/** As a pod's rules name it. */
export const hostOf = ({ metadata }: V1Node) => metadata?.labels?.["kubernetes.io/hostname"] ?? metadata?.name ?? "";
