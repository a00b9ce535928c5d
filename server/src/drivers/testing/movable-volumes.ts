import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { KubeConfig, type KubernetesObject, KubernetesObjectApi } from "@kubernetes/client-node";
import { testKubeconfig } from "./kubernetes-machine.ts";

/** The class of so many volumes without a node: folders of this machine, for a cluster whose nodes all run on it. */
export async function movableVolumes(stack: AsyncDisposableStack, count: number): Promise<string> {
  const name = `berth-movable-${randomBytes(4).toString("hex")}`;
  const config = new KubeConfig();
  config.loadFromFile(testKubeconfig);
  const api = KubernetesObjectApi.makeApiClient(config);
  const folder = mkdtempSync("/var/tmp/berth-movable-");
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const make = async (object: KubernetesObject) => {
    await api.create(object);
    stack.defer(async () => void (await api.delete(object)));
  };
  await make({
    ...{ apiVersion: "storage.k8s.io/v1", kind: "StorageClass", metadata: { name } },
    ...{ provisioner: "kubernetes.io/no-provisioner", volumeBindingMode: "Immediate" },
  });
  for (let index = 0; index < count; index++) {
    const path = mkdtempSync(join(folder, "home-"));
    chmodSync(path, 0o777);
    await make({
      ...{ apiVersion: "v1", kind: "PersistentVolume", metadata: { name: `${name}-${index}` } },
      spec: {
        ...{ capacity: { storage: "50G" }, accessModes: ["ReadWriteOnce"], persistentVolumeReclaimPolicy: "Retain" },
        ...{ storageClassName: name, hostPath: { path } },
      },
    } as KubernetesObject);
  }
  return name;
}
