import type { Cluster } from "../server/src/drivers/kubernetes/cluster/open-cluster.ts";
import { gpuResource } from "../server/src/drivers/kubernetes/pods/pod-body.ts";
import { openKubernetesMachine } from "../server/src/drivers/testing/kubernetes-machine.ts";

interface NodeList {
  readonly items: readonly {
    readonly metadata: { readonly name: string };
    readonly status: { readonly allocatable?: Readonly<Record<string, string>> };
  }[];
}

/** Of the test cluster's nodes without GPUs. */
const slotsLabel = "berth.test/slots";

export interface TestCluster {
  /** With every right, to plant and to look. */
  readonly cluster: Cluster;
  /** Of a product whose environments are pods. */
  readonly settings: Readonly<Record<string, string>>;
  /** Deletes the namespace with all in it. The product must have ended. */
  close(): Promise<void>;
}

/**
 * A namespace of its own on the cluster of TEST_KUBECONFIG. Nodes without GPUs are chosen where there are some: their CPU slots
 * overcommit, so that orders of any size fit on a small machine. `gpus`: all nodes.
 */
export async function openTestCluster({ gpus = false } = {}): Promise<TestCluster> {
  const { cluster, optionsOf, close } = await openKubernetesMachine();
  const { kubeconfig = "", namespace, clients, images } = optionsOf();
  const isChosen = !gpus && (await labelSlots(cluster));
  return {
    cluster,
    settings: {
      RUNTIME: "kubernetes",
      KUBERNETES_CONFIG: kubeconfig,
      KUBERNETES_NAMESPACE: namespace,
      KUBERNETES_IMAGES: `jupyter=${await images("jupyter")}`,
      KUBERNETES_CLIENTS: clients.join(","),
      ...(isChosen && { KUBERNETES_NODE_SELECTOR: `${slotsLabel}=true` }),
    },
    close,
  };
}

/** Labels the nodes without GPUs; false: there is none. */
async function labelSlots(cluster: Cluster): Promise<boolean> {
  const path = "/api/v1/nodes";
  const { items } = await cluster.withTimeout((signal) => cluster.call<NodeList>({ path, signal }));
  const plain = items.filter(({ status }) => Number(status.allocatable?.[gpuResource] ?? 0) === 0);
  for (const { metadata } of plain) {
    const named = { name: metadata.name, labels: { [slotsLabel]: "true" } };
    const body = { apiVersion: "v1", kind: "Node", metadata: named };
    const apply = {
      method: "PATCH",
      path: `${path}/${metadata.name}`,
      query: { fieldManager: "berth-test" },
      body,
    } as const;
    await cluster.withTimeout((signal) => cluster.call({ ...apply, signal }));
  }
  return plain.length > 0;
}
