import type { V1Pod, V1SelfSubjectAccessReview } from "@kubernetes/client-node";
import { type Capabilities, DriverError } from "../driver.ts";
import { diskGb, unitLimits } from "../unit-limits.ts";
import { labelText } from "./added-cluster.ts";
import { podsPath } from "./cluster/objects.ts";
import { type Cluster, openCluster } from "./cluster/open-cluster.ts";
import type { KubernetesOptions } from "./kubernetes-driver.ts";
import { factsOf, nodeReader, usableOf } from "./nodes/cluster-facts.ts";
import { podBody } from "./pods/pod-body.ts";

export interface ClusterCheck {
  /** Which cluster it is (`Capabilities.cluster`). */
  readonly cluster: string;
  /** Names of the nodes that runs may use now. */
  readonly nodes: readonly string[];
  readonly gpus: Capabilities["gpus"];
  /** Plain sentences for the operator. */
  readonly warnings: readonly string[];
}

/**
 * Checks a part of a cluster before anything is leased on it: its API server, our rights there, an image, Pod Security and
 * nodes. Leaves nothing. Throws a DriverError, in one sentence, when it cannot be used.
 */
export async function checkCluster(options: KubernetesOptions): Promise<ClusterCheck> {
  const cluster = openCluster(options);
  const image = await options.images("jupyter");
  if (!image) throw new DriverError("no_image", "KUBERNETES_IMAGES names no image of jupyter, which everything needs");
  return await cluster.withTimeout(async (signal) => {
    await requireRights(cluster, signal);
    const pod = trialPod(options, image);
    await admit(cluster, pod, signal);
    const nodes = await nodeReader(cluster)(signal);
    const usable = usableOf(nodes, options.nodeSelector);
    if (usable.length === 0) throw new DriverError("refused", noNode(options.nodeSelector));
    const names = usable.map(({ metadata }) => metadata?.name ?? "");
    const { gpus } = factsOf(nodes, options.nodeSelector, options.slotPrefix);
    const isOpen = await admits(cluster, withHostNetwork(pod), signal);
    return { cluster: await cluster.fingerprint(), nodes: names, gpus, warnings: isOpen ? [openText(cluster)] : [] };
  });
}

function noNode(nodeSelector: KubernetesOptions["nodeSelector"]): string {
  const labels = labelText(nodeSelector);
  return `No ready node of the cluster takes pods${labels && ` and has the labels ${labels}`}`;
}

const openText = ({ namespace }: Cluster) =>
  `the namespace ${namespace} admits pods with any rights: kubectl label namespace ${namespace} pod-security.kubernetes.io/enforce=restricted`;

/** Those of deploy/kubernetes/access.yaml: verbs by resource and group. */
export const clusterRights: Readonly<Record<"namespace" | "cluster", Readonly<Record<string, string>>>> = {
  namespace: {
    pods: "get list watch create delete",
    "pods/log": "get",
    "pods/exec": "get create",
    resourcequotas: "list",
    events: "list",
    persistentvolumeclaims: "get create delete",
    "networkpolicies.networking.k8s.io": "create patch",
    "daemonsets.apps": "get create patch",
  },
  cluster: { nodes: "list", persistentvolumes: "get" },
};

interface Right {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly group?: string;
  readonly namespace?: string;
}

async function requireRights(cluster: Cluster, signal: AbortSignal): Promise<void> {
  const all = [...rightsOf(clusterRights.namespace, cluster.namespace), ...rightsOf(clusterRights.cluster)];
  const allowed = await Promise.all(all.map((right) => mayDo(cluster, right, signal)));
  const missing = all
    .filter((_, index) => !allowed[index])
    .map(({ verb, resource, subresource }) => {
      return `${verb} ${resource}${subresource ? `/${subresource}` : ""}`;
    });
  if (missing.length === 0) return;
  const where = `in the namespace ${cluster.namespace}`;
  throw new DriverError(
    "refused",
    `The kubeconfig's user may not ${missing.join(", ")} ${where}: deploy/kubernetes/access.yaml gives these rights`,
  );
}

function rightsOf(verbs: Readonly<Record<string, string>>, namespace?: string): readonly Right[] {
  return Object.entries(verbs).flatMap(([name, all]) => {
    const [path = "", ...group] = name.split(".");
    const [resource = "", subresource] = path.split("/");
    const own = { resource, subresource, group: group.join("."), ...(namespace !== undefined && { namespace }) };
    return all.split(" ").map((verb) => ({ ...own, verb }));
  });
}

async function mayDo(cluster: Cluster, resourceAttributes: Right, signal: AbortSignal): Promise<boolean> {
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes } };
  const { status } = await cluster.call<V1SelfSubjectAccessReview>({ method: "POST", path, body, signal });
  return status?.allowed ?? false;
}

/** The smallest run, as an order would make it. */
function trialPod(options: KubernetesOptions, image: string): V1Pod {
  const { cpus, memoryMb, shmMb } = unitLimits;
  const limits = { cpus, memoryMb, shmMb, pids: 4096, diskGb };
  const spec = { id: "check", generation: 1, image: "jupyter", token: "", home: "check", gpus: [], limits };
  return podBody(spec, { ...options, image, node: undefined });
}

/** Throws when the namespace does not admit our pods; one that is full admits them later. */
async function admit(cluster: Cluster, body: V1Pod, signal: AbortSignal): Promise<void> {
  try {
    await dryRun(cluster, body, signal);
  } catch (error) {
    const explained = cluster.explain(error);
    if (!(explained instanceof DriverError && explained.waitsFor === "room")) throw explained;
  }
}

/** A pod that Pod Security `restricted` refuses, and `baseline` too. */
const withHostNetwork = ({ spec, ...pod }: V1Pod): V1Pod => ({
  ...pod,
  spec: { ...spec, containers: spec?.containers ?? [], hostNetwork: true },
});

async function admits(cluster: Cluster, body: V1Pod, signal: AbortSignal): Promise<boolean> {
  return await dryRun(cluster, body, signal).then(
    () => true,
    () => false,
  );
}

async function dryRun(cluster: Cluster, body: V1Pod, signal: AbortSignal): Promise<void> {
  await cluster.call({ method: "POST", path: podsPath(cluster), query: { dryRun: "All" }, body, signal });
}
