import { policiesPath } from "../kubernetes/cluster/objects.ts";
import type { Cluster } from "../kubernetes/cluster/open-cluster.ts";

/** Opens a namespace's network, to show that its policies had closed it. */
export async function deletePolicies(cluster: Cluster): Promise<void> {
  const path = policiesPath(cluster);
  await cluster.withTimeout((signal) => cluster.call({ method: "DELETE", path, body: {}, signal }));
}
