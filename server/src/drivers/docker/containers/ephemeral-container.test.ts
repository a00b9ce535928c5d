import { describe, expect, onTestFinished, test, vi } from "vitest";
import { openDockerMachine, removeRuns, whyNoDocker } from "../../testing/docker-machine.ts";
import { openEngineProxy } from "../../testing/engine-proxy.ts";
import { openEngine } from "../engine/engine.ts";
import { createEphemeral } from "./ephemeral-container.ts";

vi.setConfig({ testTimeout: 60_000 });

const absent = await whyNoDocker();

describe.skipIf(absent)(absent ? `ephemeral containers, skipped because ${absent}` : "ephemeral containers", () => {
  async function setup() {
    const machine = openDockerMachine();
    const proxy = await openEngineProxy(machine.directory);
    const install = machine.installOf("one");
    onTestFinished(async () => {
      await removeRuns(install);
      await proxy.close();
      await machine.close();
    });
    const names = async () => {
      const all = await machine.engine.listContainers({ all: true, filters: { label: [`berth.install=${install}`] } });
      return all.map(({ Names }) => Names[0]).toSorted();
    };
    const create = (name: string, socketPath = "/var/run/docker.sock") => {
      const parts = { engine: openEngine({ socketPath }), install };
      const HostConfig = name.startsWith("homes-") ? { AutoRemove: false as const } : {};
      return createEphemeral(parts, { name, image: "berth/jupyter:local", network: "none", HostConfig });
    };
    return { proxy, names, create, driver: await machine.open() };
  }

  test("a container that a killed server never started is removed after an hour; one that began, or is to stay, is not", async () => {
    const { create, names, driver } = await setup();
    const mark = crypto.randomUUID();
    const names_ = ["helper", "probe-client", "homes"].map((kind) => `/${kind}-${mark}`);
    for (const name of names_) await create(name.slice(1));
    const begun = await create(`helper-begun-${mark}`);
    await begun.start();
    await driver.prepare("jupyter");
    expect(await names()).toEqual([...names_, `/helper-begun-${mark}`].toSorted());
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_700_000 });
    onTestFinished(() => void vi.useRealTimers());
    await driver.prepare("jupyter");
    expect(await names()).toEqual([`/helper-begun-${mark}`, `/homes-${mark}`]);
  });

  test("a container whose create response was lost is removed", async () => {
    const { create, proxy, names } = await setup();
    proxy.onRequest = (head) => {
      proxy.fault = head.includes("/create") ? "cut" : "none";
      return undefined;
    };
    await expect(create(`helper-${crypto.randomUUID()}`, proxy.path)).rejects.toMatchObject({ code: "unavailable" });
    expect(await names()).toEqual([]);
  });
});
