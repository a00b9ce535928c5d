import type { Cluster } from "../kubernetes/cluster/open-cluster.ts";

/** A namespace beside another, without Pod Security and without policies. The stack deletes it. */
export async function openNamespace(stack: AsyncDisposableStack, cluster: Cluster): Promise<Cluster> {
  const namespace = `${cluster.namespace}-open`;
  const path = "/api/v1/namespaces";
  const body = { metadata: { name: namespace } };
  await cluster.withTimeout((signal) => cluster.call({ method: "POST", path, body, signal }));
  stack.defer(async () => {
    const own = { method: "DELETE", path: `${path}/${namespace}`, body: {} } as const;
    await cluster.withTimeout((signal) => cluster.call({ ...own, signal }));
  });
  return { ...cluster, namespace };
}
