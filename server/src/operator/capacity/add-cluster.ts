import { type Author, recordAct } from "../../audit/record-act.ts";
import type { Db } from "../../database/database.ts";
import { type AddedCluster, clusterAddress, labelText } from "../../drivers/kubernetes/added-cluster.ts";
import type { ClusterCheck } from "../../drivers/kubernetes/check-cluster.ts";
import { nodesOfOthers } from "../../environments/hosts/nodes-of-others.ts";
import { hostForUpdate } from "../../environments/hosts/register-host.ts";
import { checkAddable, checkHostName, restored } from "./add-host.ts";
import { CapacityRefused } from "./capacity-refused.ts";

/**
 * As `addHost`, for a part of a cluster (G207). Throws when one of its nodes is another host's already, or when the namespace
 * with its files would change.
 */
export async function addCluster(
  db: Db,
  { id, namespace, options }: AddedCluster,
  { cluster, nodes }: Pick<ClusterCheck, "cluster" | "nodes">,
  author: Author,
): Promise<void> {
  checkHostName(id);
  const address = clusterAddress(namespace);
  await db.transaction().execute(async (tx) => {
    const others = await nodesOfOthers(tx, { hostId: id, cluster });
    const shared = nodes.find((node) => others.has(node));
    if (shared)
      throw new CapacityRefused(`${shared} is a node of ${others.get(shared)} already: give each host its own`);
    const host = await hostForUpdate(tx, id);
    checkAddable(id, host);
    if (host && !host.removed_at && (host.address !== address || host.cluster !== cluster))
      throw new CapacityRefused(`${id} has its files at ${host.address}: what is kept there would be lost`);
    const row = { kind: "kubernetes", address, home_root: null, reach: null, cluster } as const;
    const settings = { ...row, options: JSON.stringify(options) };
    await tx
      .insertInto("hosts")
      .values({ id, isolation: "container", pause: false, ...settings })
      .onConflict((conflict) => conflict.column("id").doUpdateSet({ ...settings, ...restored(host) }))
      .execute();
    const { nodeSelector, runtimeClass = "", storageClass = "" } = options;
    const details = { nodes: labelText(nodeSelector), runtime_class: runtimeClass, storage_class: storageClass };
    await recordAct(tx, author, "host.add", id, { address, ...details });
  });
}
