import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  KubeConfig,
  loadAllYaml,
  type V1ClusterRole,
  type V1PodList,
  type V1PolicyRule,
} from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Driver, Spec } from "../driver.ts";
import { filesIn, testSpec } from "../testing/drive-run.ts";
import {
  type KubernetesMachine,
  kubeconfigAs,
  openKubernetesMachine,
  testKubeconfig,
  whyNoKubernetes,
} from "../testing/kubernetes-machine.ts";
import { podsPath } from "./cluster/objects.ts";
import { openCluster } from "./cluster/open-cluster.ts";
import { kubernetesDriver } from "./kubernetes-driver.ts";

vi.setConfig({ testTimeout: 60_000 });

const access = new URL("../../../../deploy/kubernetes/access.yaml", import.meta.url);

/** The rules of a worker in the shipped file: those of the namespace, then those of the cluster. */
const shipped = (loadAllYaml(readFileSync(access, "utf8")) as V1ClusterRole[])
  .filter(({ kind, metadata }) => (kind === "Role" && metadata?.name === "berth") || kind === "ClusterRole")
  .map(({ kind, rules = [] }) => ({ kind: kind as "Role" | "ClusterRole", rules }));

const rights = shipped.flatMap(({ kind, rules }) =>
  rules.flatMap(({ resources = [], verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => ({ kind, right: `${verb} ${resource}` }))),
  ),
);

interface Runs {
  /** A run with files. */
  readonly well: Spec;
  /** One that waits for more memory than any node has. */
  readonly waits: Spec;
}

/** What needs each right. */
const needs: Readonly<Record<string, (driver: Driver, runs: Runs) => Promise<unknown>>> = {
  "get pods": (driver, { well: { id } }) => driver.observe(id),
  "list pods": (driver) => driver.list(),
  "create pods": (driver) => driver.start(testSpec()),
  "delete pods": (driver, { well: { id } }) => driver.stop(id, 0),
  "get pods/log": async (driver, { well: { id } }) => {
    const options = { tail: 1, follow: false, signal: AbortSignal.timeout(10_000) };
    for await (const _ of driver.logs(id, options));
  },
  "list events": (driver, { waits }) => driver.observe(waits.id),
  "get pods/exec": (driver, { well: { id } }) => driver.processes(id),
  "get persistentvolumeclaims": (driver) => driver.start(testSpec()),
  "create persistentvolumeclaims": (driver) => driver.start(testSpec()),
  "delete persistentvolumeclaims": (driver) => driver.deleteHome("unused"),
  "create networkpolicies": (driver) => driver.start(testSpec()),
  "patch networkpolicies": (driver) => driver.start(testSpec()),
  "get daemonsets": (driver) => driver.prepare("jupyter"),
  "create daemonsets": (driver) => driver.prepare("jupyter"),
  "patch daemonsets": (driver) => driver.prepare("jupyter"),
  "list resourcequotas": (driver) => driver.capabilities(true),
  "list nodes": (driver) => driver.capabilities(),
  "get persistentvolumes": (driver, { well: { home } }) => driver.homeNode?.(home) ?? Promise.resolve(),
  // The last, because it ends the run before it waits for that.
  "watch pods": (driver, { well: { id } }) => driver.stop(id, 0),
};

/** From Kubernetes 1.35 on a program is started with this right instead. */
const ofLaterVersions = ["create pods/exec"];
/** Nothing of the installation is there yet. */
const atFirst = ["create networkpolicies", "create daemonsets"];

test("each shipped right of the namespace and of the cluster has an action that needs it", () => {
  expect(rights.map(({ right }) => right).sort()).toEqual([...Object.keys(needs), ...ofLaterVersions].sort());
});

const absent = await whyNoKubernetes();
const title = absent ? `rights of a cluster, skipped because ${absent}` : "rights of a cluster";

describe.skipIf(absent)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-kube-"));
  let machine: KubernetesMachine;
  let full: Driver;
  const runs: Runs = { well: testSpec(), waits: testSpec({ limits: { ...testSpec().limits, memoryMb: 1e9 } }) };
  beforeAll(async () => {
    machine = await openKubernetesMachine();
    full = await machine.open();
    await full.prepare("jupyter");
    for (const each of [runs.well, runs.waits]) await full.start(each);
    await vi.waitFor(async () => expect((await full.observe(runs.well.id)).state).toBe("running"), 120_000);
    // A home without a run.
    const unused = testSpec({ home: "unused" });
    await full.start(unused);
    await full.stop(unused.id, 0);
  }, 180_000);
  afterAll(async () => {
    for (const each of [runs.well, runs.waits]) await full?.stop(each.id, 0);
    await machine?.close();
    rmSync(folder, { recursive: true });
  });

  const api = (method: "POST" | "DELETE", path: string, body: object) =>
    machine.cluster.withTimeout((signal) => machine.cluster.call({ method, path, body, signal }));

  /** A driver whose service account has the shipped rights less one. */
  async function without(right: string, install: string): Promise<Driver> {
    const { namespace } = machine.cluster;
    const name = `${namespace}-${right.replaceAll(/[ /]/g, "-")}`;
    const group = "/apis/rbac.authorization.k8s.io/v1";
    for (const { kind, rules } of shipped) {
      const base = kind === "Role" ? `${group}/namespaces/${namespace}/roles` : `${group}/clusterroles`;
      const bindings = `${base.slice(0, -1)}bindings`;
      const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind, name };
      const subjects = [{ kind: "ServiceAccount", name, namespace }];
      onTestFinished(async () => {
        for (const path of [bindings, base]) await api("DELETE", `${path}/${name}`, {});
      });
      await api("POST", base, { metadata: { name }, rules: rules.map((rule) => less(rule, right)) });
      await api("POST", bindings, { metadata: { name }, roleRef, subjects });
    }
    const config = new KubeConfig();
    config.loadFromFile(testKubeconfig);
    const kubeconfig = kubeconfigAs(config, `system:serviceaccount:${namespace}:${name}`, folder);
    return kubernetesDriver({ ...machine.optionsOf(install), kubeconfig });
  }

  test("G313 the account of an api packs files and reads logs, leaves no pod, and can do nothing else", async () => {
    const { namespace } = machine.cluster;
    const config = new KubeConfig();
    config.loadFromFile(testKubeconfig);
    const kubeconfig = kubeconfigAs(config, `system:serviceaccount:${namespace}:${namespace}-api`, folder);
    const driver = kubernetesDriver({ ...machine.optionsOf(), kubeconfig });
    const { id, home } = runs.well;
    const signal = AbortSignal.timeout(50_000);
    expect((await filesIn(driver.archive(home, signal))).size).toBeGreaterThan(0);
    await filesIn(driver.archive("unused", signal));
    const lines = async () => {
      const read: string[] = [];
      for await (const line of driver.logs(id, { tail: 10, follow: false, signal })) read.push(line);
      return read;
    };
    await expect.poll(lines, { timeout: 40_000 }).not.toEqual([]);
    const pods = await machine.cluster.call<V1PodList>({ path: podsPath(machine.cluster), signal });
    const work = pods.items.filter(({ metadata }) => metadata?.labels?.["berth.part"] === "files");
    expect(work.filter(({ metadata }) => !metadata?.deletionTimestamp)).toEqual([]);
    const denied = (text: string) => ({ code: "unavailable", message: expect.stringContaining(`may not ${text}`) });
    await expect(driver.deleteHome("unused")).rejects.toMatchObject(denied("delete persistentvolumeclaims"));
    await expect(driver.start(testSpec())).rejects.toMatchObject(denied("list nodes"));
    await expect(driver.prepare("jupyter")).rejects.toThrow("daemonsets");
    const api = openCluster({ kubeconfig, namespace });
    for (const path of [`/api/v1/namespaces/${namespace}/secrets`, "/api/v1/secrets", "/api/v1/nodes"])
      await expect(api.call({ path, signal }), path).rejects.toMatchObject({ status: 403 });
  });

  test.for(Object.entries(needs))("without the right to %s its action fails and names it", async ([right, act]) => {
    const driver = await without(right, atFirst.includes(right) ? right : "one");
    const [verb, resource] = right.split(" ");
    const message = expect.stringContaining(`may not ${verb} ${resource}`);
    // The API server takes a moment to know new rights: until then the others are missing too.
    await vi.waitFor(() => expect(act(driver, runs)).rejects.toMatchObject({ code: "unavailable", message }), {
      timeout: 30_000,
      interval: 200,
    });
  });
});

function less(rule: V1PolicyRule, right: string): V1PolicyRule {
  const verbs = rule.verbs.filter((verb) => !rule.resources?.some((resource) => `${verb} ${resource}` === right));
  // A rule needs a verb.
  return {
    ...rule,
    verbs: verbs.length > 0 ? verbs : ["deletecollection"],
    resourceNames: verbs.length > 0 ? [] : ["none"],
  };
}
