import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Driver, DriverError } from "../driver.ts";
import type { AddedCluster } from "./added-cluster.ts";
import { type ClusterCheck, checkCluster } from "./check-cluster.ts";
import { type KubernetesOptions, kubernetesDriver } from "./kubernetes-driver.ts";

export interface AddedClusterDeps
  extends Pick<KubernetesOptions, "images" | "pullSecret" | "moveAfter" | "clients" | "closed"> {
  readonly install: string;
  /** Folder of the data folder with a folder for each host, with its kubeconfig. */
  readonly folder: string;
}

export interface ClusterMachine {
  readonly host: AddedCluster;
  readonly driver: Driver;
  /** All that it needs before anything is leased on it. Throws a DriverError in one sentence. */
  check(): Promise<ClusterCheck>;
}

/** The account of the pod that this process runs in. */
const ownAccount = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/** Connects nothing yet. A host without a kubeconfig has a driver too, whose operations throw `unavailable`. */
export function openAddedCluster(host: AddedCluster, deps: AddedClusterDeps): ClusterMachine {
  const { id, namespace } = host;
  const { nodeSelector, runtimeClass, storageClass } = host.options;
  const { install, folder, images, pullSecret, moveAfter, clients, closed } = deps;
  const file = join(folder, id, "kubeconfig");
  const kubeconfig = existsSync(file) || !existsSync(ownAccount) ? file : undefined;
  const options: KubernetesOptions = {
    ...{
      kubeconfig,
      namespace,
      nodeSelector,
      runtimeClass,
      storageClass,
      images,
      pullSecret,
      moveAfter,
      clients,
      closed,
    },
    // Hosts of one namespace see only their own objects.
    install: `${install}.${id}`,
    slotPrefix: `${id}/`,
    autoscaler: undefined,
  };
  return {
    host,
    driver: kubernetesDriver(options),
    async check() {
      // A server in a pod of that cluster is let in by its namespace.
      if (clients.length > 0 || kubeconfig === undefined) return await checkCluster(options);
      throw new DriverError(
        "refused",
        `Nobody would reach the environments of ${id}: KUBERNETES_CLIENTS names the networks of your gateway and worker`,
      );
    },
  };
}
