import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { testSpec } from "../../testing/drive-run.ts";
import { type KubernetesMachine, openKubernetesMachine, whyNoKubernetes } from "../../testing/kubernetes-machine.ts";
import { checkCluster } from "../check-cluster.ts";
import { kubernetesDriver } from "../kubernetes-driver.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const absent = await whyNoKubernetes();

describe.skipIf(absent)(absent ? `files on a node, skipped because ${absent}` : "files on a node", () => {
  let machine: KubernetesMachine;
  beforeAll(async () => {
    machine = await openKubernetesMachine();
  });
  afterAll(() => machine.close());

  test("G208 a restored home is on the node that it is for, whichever node that is", async () => {
    const driver = kubernetesDriver(machine.optionsOf());
    const { nodes } = await checkCluster(machine.optionsOf());
    expect(nodes.length).toBeGreaterThan(0);
    for (const node of [...nodes, ...nodes.toReversed()]) {
      const { home, limits } = testSpec({ home: `on-${node}-${Math.random().toString(36).slice(2)}` });
      const signal = AbortSignal.timeout(30_000);
      await driver.restore({ home, limits, node }, emptyArchive(), signal);
      // Undefined where the class has volumes that every node can mount.
      expect([node, undefined]).toContain(await driver.homeNode?.(home));
      expect(await driver.countHome(home, signal)).toEqual({ entries: 0, bytes: 0 });
      await driver.deleteHome(home);
    }
  });
});

/** A tar ends with two empty blocks. */
async function* emptyArchive(): AsyncGenerator<Uint8Array> {
  yield gzipSync(Buffer.alloc(1024));
}
