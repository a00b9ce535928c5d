import { expect, test } from "vitest";
import type { Capabilities } from "../../drivers/driver.ts";
import { registerHost } from "../../environments/hosts/register-host.ts";
import { setupEnvironments } from "../../environments/testing/setup-environments.ts";
import { examine } from "../doctor/diagnose.ts";
import { hostText, readHosts } from "./drain-host.ts";
import { gpuText, readGpus, releaseGpu } from "./quarantine-gpu.ts";

const by = { actor: "cli:test", reason: "" };
const cordoned = { node: "b", reason: "the node b is cordoned: kubectl uncordon b" };

/** A host whose driver reports what it is given. */
async function cluster(slots: number) {
  const { db, driver } = await setupEnvironments({ slots: 0 });
  return {
    db,
    async register(given: Partial<Capabilities>) {
      const capabilities = async () => ({ ...(await driver.capabilities()), ...given });
      await registerHost(db, "cluster", { ...driver, capabilities }, slots);
    },
    listed: async () => (await readGpus(db)).filter(({ host_id }) => host_id === "cluster").map(gpuText),
    found: async () => (await examine(db)).find(({ kind }) => kind === "capacity_out_of_service")?.rows,
  };
}

test("G212 a GPU that a cordoned node withholds is named with what opens the node; without room nothing is wrong", async () => {
  const { db, register, listed, found } = await cluster(2);
  const gpu = (node: string) => ({ id: `${node}-gpu-1`, model: "", memoryMb: 0, node });
  const all = [gpu("a"), gpu("b"), gpu("c"), gpu("gone")];
  const nodes = ["a", "b", "c"];
  const since = (reason: string) => expect.stringMatching(new RegExp(`: not offered since .* UTC: ${reason}$`));
  await register({ gpus: all });
  await register({ gpus: [gpu("a")], nodes, closedNodes: [cordoned] });
  expect(await listed()).toEqual([
    "a-gpu-1 on cluster: free",
    since(cordoned.reason),
    since("the node c has it no more"),
    since("its host has no room for it, or has it no more"),
  ]);
  expect(await found()).toEqual([
    `cluster does not offer 1 GPU: ${cordoned.reason}`,
    "cluster does not offer 1 GPU: the node c has it no more",
  ]);
  await expect(releaseGpu(db, "b-gpu-1", by)).rejects.toThrow(`cluster does not offer it: ${cordoned.reason}`);
  expect((await readHosts(db)).map(hostText)).toContainEqual(
    expect.stringMatching(/^cluster fake: 4 GPUs, 0 leased, 0 quarantined, .* 3 not offered: the node b is cordoned/),
  );
  await register({ gpus: all, room: 2 });
  expect(await listed()).toContainEqual(since("its host has no room for it, or has it no more"));
  expect(await found()).toEqual([]);
});

test("G212 CPU slots that a cordoned node withholds are one finding, and none when it is open again", async () => {
  const { register, found } = await cluster(4);
  await register({ room: 3 });
  expect(await found()).toEqual([]);
  await register({ room: 1, closedNodes: [cordoned] });
  expect(await found()).toEqual([`cluster does not offer 3 CPU slots: ${cordoned.reason}`]);
  await register({ room: 3 });
  expect(await found()).toEqual([]);
});
