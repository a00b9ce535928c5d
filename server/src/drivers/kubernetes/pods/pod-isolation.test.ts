import type { V1Pod } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Driver, Spec } from "../../driver.ts";
import { deletePolicies } from "../../testing/delete-policies.ts";
import { startReady, testSpec } from "../../testing/drive-run.ts";
import { forbiddenPods, refusalOfPod } from "../../testing/forbidden-pods.ts";
import { type KubernetesMachine, openKubernetesMachine, whyNoKubernetes } from "../../testing/kubernetes-machine.ts";
import { openNamespace } from "../../testing/open-namespace.ts";
import { probeFromPod } from "../../testing/probe-from-pod.ts";
import { addressTowards, outsider, plantTargets } from "../../testing/probe-targets.ts";
import { execOutput } from "../cluster/exec-in-pod.ts";
import { podsPath } from "../cluster/objects.ts";
import type { Cluster } from "../cluster/open-cluster.ts";
import { kubernetesDriver } from "../kubernetes-driver.ts";
import { labContainer, labPort, podNameOf } from "./pod-body.ts";

vi.setConfig({ testTimeout: 120_000 });
const absent = await whyNoKubernetes();

describe.skipIf(absent)(absent ? `isolation of pods, skipped because ${absent}` : "isolation of pods", () => {
  let machine: KubernetesMachine;
  let cluster: Cluster;
  let driver: Driver;
  /** A namespace without Pod Security and without policies. */
  let open: Cluster;
  const closing = new AsyncDisposableStack();
  beforeAll(async () => {
    machine = await openKubernetesMachine();
    closing.defer(() => machine.close());
    cluster = machine.cluster;
    open = await openNamespace(closing, cluster);
    driver = kubernetesDriver({ ...machine.optionsOf(), clients: [`${await addressTowards(cluster)}/32`] });
    await driver.prepare("jupyter");
  }, 300_000);
  afterAll(() => closing.disposeAsync());

  async function begin(): Promise<{ readonly wanted: Spec; readonly pod: V1Pod }> {
    const wanted = testSpec();
    onTestFinished(() => driver.stop(wanted.id, 0));
    await startReady(driver, wanted);
    const path = podsPath(cluster, podNameOf(wanted.id));
    return { wanted, pod: await cluster.withTimeout((signal) => cluster.call<V1Pod>({ path, signal })) };
  }

  test.each(Object.entries(forbiddenPods))(
    "Pod Security refuses %s, which another namespace admits",
    async (_, change) => {
      const placement = machine.optionsOf();
      expect(await refusalOfPod(cluster, placement, {})).toBeUndefined();
      expect(await refusalOfPod(open, placement, change)).toBeUndefined();
      expect(await refusalOfPod(cluster, placement, change)).toContain("violates PodSecurity");
    },
  );

  test("a run reaches name servers and the public only, and answers the server only, without a token; without policies all is open", async () => {
    const [{ pod }, other] = await Promise.all([begin(), begin()]);
    const stack = new AsyncDisposableStack();
    onTestFinished(() => stack.disposeAsync());
    const options = machine.optionsOf();
    const image = (await options.images("jupyter")) ?? "";
    const beside = { ...options, image, node: pod.spec?.nodeName ?? "", namespace: open.namespace };
    const run = { name: "another run", host: other.pod.status?.podIP ?? "", port: labPort };
    const targets = [run, ...(await plantTargets(stack, cluster, beside))];
    const name = pod.metadata?.name ?? "";
    const fromRun = () => probeFromPod(cluster, name, targets);
    const fromOutsider = () => probeFromPod(open, outsider, [run]);
    let reached: readonly string[] = [];
    const probe = async () => {
      reached = await fromRun();
      return reached;
    };
    await expect.poll(probe).toContain("a public server");
    expect(reached).toEqual(["a public server"]);
    expect(await fromOutsider()).toEqual([]);
    const inside = (line: string) => {
      const signal = AbortSignal.timeout(30_000);
      return execOutput(cluster, { pod: name, container: labContainer, command: ["/bin/sh", "-c", line], signal });
    };
    const resolve = "import socket; print(socket.gethostbyname('kubernetes.default.svc'))";
    expect(await inside(`python3 -c "${resolve}"`)).toMatch(/^\d+\.\d+/);
    // Kubernetes would mount its token there.
    expect(await inside("ls /var/run/secrets 2> /dev/null; true")).toBe("");

    await deletePolicies(cluster);
    await expect.poll(fromRun).toEqual(targets.map((target) => target.name));
    await expect.poll(fromOutsider).toEqual([run.name]);
  });
});
