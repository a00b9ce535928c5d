import type { V1PersistentVolumeClaim, V1Pod } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Driver } from "../drivers/driver.ts";
import { claimsPath, podsPath } from "../drivers/kubernetes/cluster/objects.ts";
import { claimOf, podNameOf } from "../drivers/kubernetes/pods/pod-body.ts";
import { filesIn } from "../drivers/testing/drive-run.ts";
import {
  type KubernetesMachine,
  openKubernetesMachine,
  whyNoKubernetes,
} from "../drivers/testing/kubernetes-machine.ts";
import { launchTimes } from "../environments/reconciler/launch-times.ts";
import { rent } from "../environments/testing/setup-environments.ts";
import { longWait, setupWarmLab } from "./testing/setup-warm-lab.ts";

vi.setConfig({ testTimeout: 180_000 });

const absent = await whyNoKubernetes();

describe.skipIf(absent)(absent ? `warm pods, skipped because ${absent}` : "warm pods", () => {
  let machine: KubernetesMachine;
  let driver: Driver;
  beforeAll(async () => {
    machine = await openKubernetesMachine();
    const cluster = await machine.open();
    await cluster.prepare("jupyter");
    // Its GPUs are of tests beside this one too.
    const capabilities: Driver["capabilities"] = async (refresh) => ({
      ...(await cluster.capabilities(refresh)),
      ...{ gpus: [], gpu: "none" },
    });
    driver = { ...cluster, capabilities };
  }, 300_000);
  afterAll(() => machine?.close());

  const get = <T>(path: string) => machine.cluster.withTimeout((signal) => machine.cluster.call<T>({ path, signal }));
  const podOf = (id: string) => get<V1Pod>(podsPath(machine.cluster, podNameOf(id)));

  test("G205 the next paid order takes a running pod: the same one, 200 at its address, its volume the owner's", async () => {
    const { db, read, write, stands, failures } = await setupWarmLab(driver);
    const ready = await stands();
    const before = await podOf(ready);
    const id = await rent(db);
    expect(id).toBe(ready);
    await expect.poll(async () => (await read(id)).status, longWait).toBe("active");
    const { home, generation, warm } = await read(id);
    expect({ generation, warm }).toEqual({ generation: 1, warm: true });
    expect((await podOf(id)).metadata?.uid).toBe(before.metadata?.uid);
    await write(id, "note.txt", "mine");
    expect((await filesIn(driver.archive(home, AbortSignal.timeout(10_000)))).get("note.txt")).toBe("mine");
    expect(await launchTimes(db)).toMatchObject({ cold: null, warm: { count: 1 } });
    expect(failures).toEqual([]);
    const next = await stands();
    expect(next).not.toBe(id);
    expect((await podOf(next)).metadata?.uid).not.toBe(before.metadata?.uid);
  });

  test("a pod that was deleted by hand is replaced, and one that is not wanted takes its volume along", async () => {
    const { db, stands } = await setupWarmLab(driver);
    const first = await stands();
    const [{ home = "" } = {}] = await db.selectFrom("warm_runs").select("home").execute();
    await driver.stop(first, 0);
    const isGone = async () =>
      (await db.selectFrom("warm_runs").select("id").where("id", "=", first).execute()).length === 0;
    await expect.poll(isGone, longWait).toBe(true);
    const absentClaim = get<V1PersistentVolumeClaim>(claimsPath(machine.cluster, claimOf(home)));
    await expect(absentClaim).rejects.toThrow();
    expect(await stands()).not.toBe(first);
  });
});
