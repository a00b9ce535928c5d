import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  KubeConfig,
  type KubernetesObject,
  KubernetesObjectApi,
  loadAllYaml,
  type V1NamespaceList,
} from "@kubernetes/client-node";
import { ExecFailure, execOutput } from "../kubernetes/cluster/exec-in-pod.ts";
import { type Cluster, openCluster } from "../kubernetes/cluster/open-cluster.ts";
import { type KubernetesOptions, kubernetesDriver } from "../kubernetes/kubernetes-driver.ts";
import { labContainer, podNameOf } from "../kubernetes/pods/pod-body.ts";
import type { TestMachine } from "./drive-run.ts";

// biome-ignore lint/style/noProcessEnv: a cluster is named on purpose, and never the one that KUBECONFIG happens to name
export const testKubeconfig = process.env["TEST_KUBECONFIG"] ?? "";
/** Why pods cannot be tested on this machine; undefined where they can. */
export async function whyNoKubernetes(): Promise<string | undefined> {
  if (testKubeconfig === "") return "TEST_KUBECONFIG names no cluster for tests";
  try {
    const cluster = openCluster({ kubeconfig: testKubeconfig, namespace: "default" });
    await cluster.withTimeout((signal) => cluster.call<V1NamespaceList>({ path: "/api/v1/namespaces", signal }));
    return undefined;
  } catch (error) {
    return `the cluster of TEST_KUBECONFIG does not answer: ${(error as Error).message}`;
  }
}

export interface KubernetesMachine extends TestMachine {
  /** With every right, to plant what the driver meets. */
  readonly cluster: Cluster;
  /** With the rights of deploy/kubernetes/access.yaml. */
  readonly optionsOf: (install?: string) => KubernetesOptions;
}

const access = new URL("../../../../deploy/kubernetes/access.yaml", import.meta.url);
const image = "docker.io/berth/jupyter:local";

/** A namespace of its own under Pod Security `restricted`, on a cluster that others use too. Its nodes must have the image. */
export async function openKubernetesMachine(): Promise<KubernetesMachine> {
  const namespace = `berth-test-${randomBytes(5).toString("hex")}`;
  const folder = mkdtempSync(join(tmpdir(), "berth-kube-"));
  const cluster = openCluster({ kubeconfig: testKubeconfig, namespace });
  const config = new KubeConfig();
  config.loadFromFile(testKubeconfig);
  const objects = KubernetesObjectApi.makeApiClient(config);
  const shipped = loadAllYaml(readFileSync(access, "utf8").replaceAll("berth", namespace)) as KubernetesObject[];
  for (const object of shipped) await objects.create(object);
  const limited = kubeconfigAs(config, `system:serviceaccount:${namespace}:${namespace}`, folder);
  const installs = new Map<string, string>();
  const installOf = (name: string) => {
    const known = installs.get(name) ?? randomBytes(6).toString("hex");
    installs.set(name, known);
    return known;
  };
  const images = async (type: string) => (type === "jupyter" ? image : undefined);
  const placement = {
    nodeSelector: {},
    runtimeClass: undefined,
    pullSecret: undefined,
    storageClass: undefined,
    moveAfter: undefined,
    autoscaler: undefined,
  };
  const optionsOf = (install = "one") => {
    // Any network: which address this machine has for a pod differs by cluster.
    const clients = ["0.0.0.0/0"];
    return { ...placement, kubeconfig: limited, namespace, install: installOf(install), clients, closed: [], images };
  };
  return {
    cluster,
    optionsOf,
    open: async (install) => kubernetesDriver(optionsOf(install)),
    crash: (_, id) => endLab(cluster, id),
    close: async () => {
      // The cluster goes on deleting what the namespace holds.
      for (const object of shipped.toReversed()) await objects.delete(object);
      rmSync(folder, { recursive: true });
    },
  };
}

/** A kubeconfig file with the rights of another user. */
export function kubeconfigAs(config: KubeConfig, user: string, folder: string): string {
  const content = JSON.parse(config.exportConfig());
  for (const each of content.users) each.user.as = user;
  const file = join(folder, `${user.replaceAll(":", "-")}.json`);
  writeFileSync(file, JSON.stringify(content));
  return file;
}

async function endLab(cluster: Cluster, id: string): Promise<void> {
  const command = ["/bin/sh", "-c", "kill -9 $(pgrep -f lab.py)"];
  const program = { pod: podNameOf(id), container: labContainer, command };
  await cluster
    .withTimeout((signal) => execOutput(cluster, { ...program, signal }))
    // The shell ends with the run.
    .catch((error) => {
      if (!(error instanceof ExecFailure)) throw error;
    });
}
