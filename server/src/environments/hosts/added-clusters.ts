import { join } from "node:path";
import { recipeOf } from "@berth/contract";
import type { Config } from "../../config/config.ts";
import type { RowOf, Sql } from "../../database/database.ts";
import { type AddedCluster, namespaceIn } from "../../drivers/kubernetes/added-cluster.ts";
import type { AddedClusterDeps, ClusterMachine } from "../../drivers/kubernetes/open-added-cluster.ts";

/** The parts of clusters that an operator added, without the decommissioned ones. */
export async function addedClusters(db: Sql): Promise<readonly AddedCluster[]> {
  const rows = await db
    .selectFrom("hosts")
    .selectAll()
    .where("options", "is not", null)
    .where("removed_at", "is", null)
    .where("lost_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map(({ id, address, options }: RowOf<"hosts">) => {
    return { id, namespace: namespaceIn(address ?? ""), options: options ?? { nodeSelector: {} } };
  });
}

interface OpenDeps {
  readonly config: Pick<Config, "kubernetes" | "catalogue">;
  readonly dataDir: string;
  readonly install: string;
}

/** A driver for each. Nothing is connected yet; without clusters their client, which takes 90 MB of memory, is not read. */
export async function openAddedClusters(
  hosts: readonly AddedCluster[],
  { config, dataDir, install }: OpenDeps,
): Promise<readonly ClusterMachine[]> {
  if (hosts.length === 0) return [];
  const { openAddedCluster } = await import("../../drivers/kubernetes/open-added-cluster.ts");
  const { images, pullSecret, moveAfter, clients, closed } = config.kubernetes;
  const deps: AddedClusterDeps = {
    ...{ install, folder: join(dataDir, "hosts"), pullSecret, moveAfter, clients, closed },
    images: async (type) => images[recipeOf(config.catalogue, type)],
  };
  return hosts.map((host) => openAddedCluster(host, deps));
}
