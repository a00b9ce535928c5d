import type { WaitReason } from "@berth/contract";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Driver, Spec } from "../driver.ts";
import { testSpec, waitForState } from "../testing/drive-run.ts";
import { type KubernetesMachine, openKubernetesMachine, whyNoKubernetes } from "../testing/kubernetes-machine.ts";
import { podsPath } from "./cluster/objects.ts";
import { type KubernetesOptions, kubernetesDriver } from "./kubernetes-driver.ts";
import { podNameOf } from "./pods/pod-body.ts";

vi.setConfig({ testTimeout: 120_000 });

const absent = await whyNoKubernetes();

describe.skipIf(absent)(absent ? `waits of a cluster, skipped because ${absent}` : "waits of a cluster", () => {
  let machine: KubernetesMachine;
  let driver: Driver;
  beforeAll(async () => {
    machine = await openKubernetesMachine();
    driver = await machine.open();
  }, 120_000);
  afterAll(() => machine?.close());

  const { limits } = testSpec();
  const enormous = { limits: { ...limits, memoryMb: 1e9 } };
  const missingImage = { images: async () => "localhost:1/nothing/here:1" };

  test.concurrent.for<[string, WaitReason, Partial<Spec>, Partial<KubernetesOptions>, RegExp]>([
    ["more memory than any node has", "room", enormous, {}, /Insufficient memory/],
    ["an image that no registry has", "image", {}, missingImage, /^on \S+: \w*Image\w*: /],
    ["a storage class that is missing", "volume", {}, { storageClass: "missing" }, /PersistentVolumeClaim/i],
    ["a node that is not there yet", "machine", { gpus: ["new:1-gpu-1"] }, {}, /nodes are available/],
  ])("G198 a start that needs %s waits for %s, in the cluster's words", async ([, reason, changes, options, words]) => {
    const other = kubernetesDriver({ ...machine.optionsOf(), ...options });
    const wanted = testSpec(changes);
    try {
      await other.start(wanted);
      const waiting = { for: reason, message: expect.stringMatching(words) };
      await expect
        .poll(() => other.observe(wanted.id), { timeout: 90_000, interval: 500 })
        .toMatchObject({
          ...{ state: "starting", waiting },
        });
    } finally {
      await other.stop(wanted.id, 0);
    }
  });

  test("G199 a run that is evicted, as by a drain of its node, is gone, and not by an end of its own", async () => {
    const wanted = testSpec();
    onTestFinished(() => driver.stop(wanted.id, 0));
    await driver.start(wanted);
    await waitForState(driver, wanted.id, "running");
    const { cluster } = machine;
    const name = podNameOf(wanted.id);
    const body = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name } };
    await cluster.withTimeout((signal) =>
      cluster.call({ method: "POST", path: `${podsPath(cluster, name)}/eviction`, body, signal }),
    );
    await vi.waitFor(
      async () => {
        const observed = await driver.observe(wanted.id);
        if (observed.state === "stopped") expect(observed.exit.evicted?.cause).toBe("machine");
        else expect(observed.state).toBe("absent");
      },
      { timeout: 60_000, interval: 200 },
    );
  });
});
