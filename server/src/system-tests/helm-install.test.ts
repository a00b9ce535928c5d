import { KubeConfig, type KubernetesObject, KubernetesObjectApi } from "@kubernetes/client-node";
import { expect, onTestFinished, test } from "vitest";
import { testKubeconfig, whyNoKubernetes } from "../drivers/testing/kubernetes-machine.ts";
import {
  fullValues,
  installChart,
  leastValues,
  namespace,
  renderChart,
  whyNoHelm,
  withPods,
} from "./testing/helm-chart.ts";

const noCluster = await whyNoKubernetes();
const whyNoDryRun = whyNoHelm || (noCluster ? ` (skipped: ${noCluster})` : "");

/** The cluster, with empty namespaces for one test. */
async function clusterWithNamespace(): Promise<KubernetesObjectApi> {
  const config = new KubeConfig();
  config.loadFromFile(testKubeconfig);
  const api = KubernetesObjectApi.makeApiClient(config);
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  for (const name of [namespace, `${namespace}-environments`]) {
    const space = { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
    const create = () =>
      api.create(space).then(
        () => true,
        () => false,
      );
    // The namespace of the test before may be going still.
    await expect.poll(create, { timeout: 60_000 }).toBe(true);
    onTestFinished(async () => void (await api.delete(space)));
  }
  return api;
}

test.skipIf(whyNoDryRun)(
  `a Secret or a key that is missing is refused in one sentence, and nothing is made (G210)${whyNoDryRun}`,
  async () => {
    const api = await clusterWithNamespace();
    const wanted = { RAZORPAY_KEY_SECRET: { name: "razorpay", key: "secret" } };
    const values = { ...leastValues, secrets: wanted };
    const install = () => installChart(values);
    const secret = (name: string, ...keys: readonly string[]) =>
      api.create({
        ...{ apiVersion: "v1", kind: "Secret", metadata: { name, namespace } },
        stringData: Object.fromEntries(keys.map((key) => [key, "x"])),
      } as KubernetesObject);
    // The account `default` is made a moment after its namespace.
    const absent = `there is no Secret razorpay in the namespace ${namespace}`;
    await secret("berth", "DATABASE_URL", "IDENTITY_SECRET");
    await expect.poll(() => install().refusal, { timeout: 30_000 }).toContain(`secrets.RAZORPAY_KEY_SECRET: ${absent}`);
    await secret("razorpay", "another");
    expect(install().refusal).toContain(`the Secret razorpay in the namespace ${namespace} has no key secret`);
    expect(install().refusal).not.toContain("DATABASE_URL");
    await secret("whole", "secret");
    wanted.RAZORPAY_KEY_SECRET.name = "whole";
    expect(install()).toEqual({ status: 0, refusal: "" });
    const elsewhere = installChart({ ...values, environments: { namespace: "nowhere" } });
    expect(elsewhere.refusal).toContain("environments.namespace: there is no namespace nowhere");
    // What an installation of before has there.
    const home = { name: "home-1", namespace, labels: { "berth.part": "home" } };
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Mi" } } };
    await api.create({ apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: home, spec } as KubernetesObject);
    expect(install().refusal).toContain(
      `homes are in the namespace ${namespace} already (1): set environments.namespace`,
    );
    expect(installChart({ ...values, environments: { namespace } })).toEqual({ status: 0, refusal: "" });
  },
);

test.skipIf(whyNoDryRun)(
  `a cluster takes every object, and the pods under Pod Security restricted${whyNoDryRun}`,
  async () => {
    const api = await clusterWithNamespace();
    // Kinds that every cluster has.
    const known = renderChart(fullValues).objects.filter(
      ({ apiVersion }) => !/gateway|monitoring/.test(apiVersion ?? ""),
    );
    const pods = withPods(known).map(({ spec, metadata }) => ({
      ...{ apiVersion: "v1", kind: "Pod", metadata: { name: metadata?.name ?? "", namespace } },
      // The account is made with the objects, which are only tried here.
      spec: { ...spec.template.spec, serviceAccountName: "default", automountServiceAccountToken: false },
    }));
    expect(pods).toHaveLength(4);
    for (const object of [...known, ...pods]) await api.create(object, undefined, "All");
  },
);
