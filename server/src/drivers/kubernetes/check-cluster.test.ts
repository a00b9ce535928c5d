import { readFileSync } from "node:fs";
import { loadAllYaml, type V1ClusterRole } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import {
  type KubernetesMachine,
  openKubernetesMachine,
  testKubeconfig,
  whyNoKubernetes,
} from "../testing/kubernetes-machine.ts";
import { openNamespace } from "../testing/open-namespace.ts";
import { checkCluster, clusterRights } from "./check-cluster.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const access = new URL("../../../../deploy/kubernetes/access.yaml", import.meta.url);

test("the rights that are asked for are those of the shipped file", () => {
  const shipped = loadAllYaml(readFileSync(access, "utf8")) as V1ClusterRole[];
  const of = (wanted: string) =>
    shipped
      .filter(({ kind, metadata }) => kind === wanted && metadata?.name !== "berth-api")
      .flatMap(({ rules = [] }) => rules)
      .flatMap(({ apiGroups: [group = ""] = [], resources = [], verbs }) =>
        resources.map((resource) => [group ? `${resource}.${group}` : resource, verbs.join(" ")] as const),
      );
  expect(clusterRights).toEqual({
    namespace: Object.fromEntries(of("Role")),
    cluster: Object.fromEntries(of("ClusterRole")),
  });
});

const absent = await whyNoKubernetes();

describe.skipIf(absent)(absent ? `a part of a cluster, skipped because ${absent}` : "a part of a cluster", () => {
  const stack = new AsyncDisposableStack();
  let machine: KubernetesMachine;
  let anyPods: string;
  let first: string;
  beforeAll(async () => {
    machine = await openKubernetesMachine();
    stack.defer(() => machine.close());
    anyPods = (await openNamespace(stack, machine.cluster)).namespace;
    first = (await checkCluster(machine.optionsOf())).nodes[0] ?? "";
  });
  afterAll(() => stack.disposeAsync());

  test("one that has everything is described, and nothing is left there", async () => {
    const { nodes, gpus, cluster, warnings } = await checkCluster({ ...machine.optionsOf(), slotPrefix: "a100/" });
    expect(nodes).toContain(first);
    expect(gpus.every(({ id, node }) => id.startsWith(`a100/${node}-gpu-`))).toBe(true);
    expect([cluster, warnings]).toEqual([await machine.cluster.fingerprint(), []]);
    const path = `/api/v1/namespaces/${machine.cluster.namespace}/pods`;
    const pods = await machine.cluster.withTimeout((signal) => machine.cluster.call<{ items: [] }>({ path, signal }));
    expect(pods.items).toEqual([]);
  });

  test("only the nodes with its labels are its own; without one it cannot be used", async () => {
    const labelled = { "kubernetes.io/hostname": first };
    expect((await checkCluster({ ...machine.optionsOf(), nodeSelector: labelled })).nodes).toEqual([first]);
    await expect(checkCluster({ ...machine.optionsOf(), nodeSelector: { pool: "none" } })).rejects.toThrow(
      "No ready node of the cluster takes pods and has the labels pool=none",
    );
  });

  test("what is missing is named in one sentence", async () => {
    const images = async () => undefined;
    await expect(checkCluster({ ...machine.optionsOf(), images })).rejects.toThrow("KUBERNETES_IMAGES names no image");
    await expect(checkCluster({ ...machine.optionsOf(), kubeconfig: "/nowhere" })).rejects.toThrow(
      /^The kubeconfig \/nowhere cannot be read: ENOENT/,
    );
    await expect(checkCluster({ ...machine.optionsOf(), runtimeClass: "gvisor-of-nobody" })).rejects.toThrow(
      /RuntimeClass "gvisor-of-nobody" not found/,
    );
    await expect(checkCluster({ ...machine.optionsOf(), namespace: "default" })).rejects.toThrow(
      /may not get pods, list pods, watch pods, create pods, .*patch daemonsets in the namespace default: deploy\/kubernetes\/access.yaml gives these rights$/,
    );
  });

  test("a namespace that admits any pod is a warning", async () => {
    const asAdministrator = { ...machine.optionsOf(), kubeconfig: testKubeconfig, namespace: anyPods };
    const { warnings } = await checkCluster(asAdministrator);
    expect(warnings).toEqual([
      expect.stringMatching(/admits pods with any rights: kubectl label namespace \S+ pod-sec/),
    ]);
  });
});
