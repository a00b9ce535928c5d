import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Driver } from "../../driver.ts";
import { openDockerMachine, whyNoDocker } from "../../testing/docker-machine.ts";
import { testSpec } from "../../testing/drive-run.ts";
import { openEngineProxy } from "../../testing/engine-proxy.ts";
import { containerName, label } from "../containers/container-body.ts";
import { openEngine } from "../engine/engine.ts";
import { gpuFault } from "./gpu-fault.ts";

const absent = await whyNoDocker();

/** What the real program prints, and ends with. */
const outputs = {
  two: `echo "GPU 0: Tesla T4 (UUID: GPU-98178f31-8a86-f31c-2e94-6c57af3f8ebc)"
    echo "GPU 1: NVIDIA GeForce RTX 4080 SUPER (UUID: GPU-d9116be8-13c2-ea3b-b790-e27e8c7fe969)"`,
  one: 'echo "GPU 0: Tesla T4 (UUID: GPU-98178f31-8a86-f31c-2e94-6c57af3f8ebc)"',
  // After `systemctl daemon-reload` on some hosts: the devices were taken away from the container.
  nvml: 'echo "Failed to initialize NVML: Unknown Error"; exit 255',
  who: 'echo "$(id -u) $(grep CapEff /proc/self/status)"; exit 1',
  hangs: "sleep 60",
  killed: "kill -9 $$",
} as const;
const ids = ["GPU-98178f31-8a86-f31c-2e94-6c57af3f8ebc", "GPU-d9116be8-13c2-ea3b-b790-e27e8c7fe969"];

describe.skipIf(absent)(absent ? `GPUs from inside, skipped because ${absent}` : "GPUs from inside", () => {
  let machine: ReturnType<typeof openDockerMachine>;
  let driver: Driver;
  let folder: string;
  beforeAll(async () => {
    machine = openDockerMachine();
    driver = await machine.open();
    folder = mkdtempSync(join(tmpdir(), "berth-smi-"));
    // The owner's own program comes first on the image's path.
    program("owner", 'echo "GPU 0: none"');
  });
  afterAll(async () => {
    await machine.close();
    rmSync(folder, { recursive: true });
  });

  function program(name: string, script: string): string {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  }

  /** A run as the driver makes it, but for the GPUs, which this machine has not; its `nvidia-smi` says what `says` says. */
  async function run(says?: keyof typeof outputs, gpus: readonly string[] = ids) {
    const { id, home } = testSpec();
    const own = `${program("owner", 'echo "GPU 0: none"')}:/home/berth/.local/bin/nvidia-smi:ro`;
    const container = await machine.engine.createContainer({
      name: containerName(id),
      Image: "berth/jupyter:local",
      Entrypoint: ["sleep", "120"],
      Labels: {
        [label.install]: machine.installOf("one"),
        [label.environment]: id,
        [label.generation]: "1",
        [label.gpus]: gpus.join(","),
        [label.home]: home,
      },
      HostConfig: {
        NetworkMode: "none",
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        Init: true,
        Binds: says ? [own, `${program(`${id}-${says}`, outputs[says])}:/usr/bin/nvidia-smi:ro`] : [own],
      },
    });
    onTestFinished(() => container.remove({ force: true }).catch(() => {}));
    await container.start();
    return { id, container };
  }

  test("a run whose GPUs all respond has no fault", async () => {
    expect(await driver.gpuFault((await run("two")).id)).toBeUndefined();
    expect(await driver.gpuFault((await run("one", ["cpu-1"])).id), "slots are no GPUs").toBeUndefined();
  });

  test.for([
    ["one", `nvidia-smi no longer finds ${ids[1]}`],
    ["nvml", "nvidia-smi ended with 255: Failed to initialize NVML: Unknown Error"],
    ["who", expect.stringMatching(/ended with 1: 0 CapEff:\s+0000000000000000$/)],
  ] as const)("%s: the fault is a readable message", async ([says, words]) => {
    expect(await driver.gpuFault((await run(says)).id)).toEqual(words);
  });

  test("a program that hangs is a fault, and so are GPUs that disappear at times", async () => {
    const engine = openEngine({ socketPath: "/var/run/docker.sock" });
    const { container } = await run("hangs");
    const gone = async () => [];
    const hung = async () => Promise.reject(new Error("nvidia-smi hangs there too"));
    for (const outside of [gone, hung])
      expect(await gpuFault(engine, container, ids, outside, 400)).toBe("nvidia-smi did not end within 0.4 s");
    const { id } = await run("two");
    program(`${id}-two`, outputs.nvml);
    expect(await driver.gpuFault(id)).toMatch("Unknown Error");
    program(`${id}-two`, outputs.two);
    expect(await driver.gpuFault(id)).toBeUndefined();
  });

  test("a timeout is inconclusive while the GPUs respond outside, and so is a lost connection", async () => {
    const { container } = await run("hangs");
    const outside = async () => ids.map((id) => ({ id, usePercent: 100, memoryMb: 1, watts: 1 }));
    const engine = openEngine({ socketPath: "/var/run/docker.sock" });
    const late = { code: "unavailable", message: expect.stringContaining("did not end within 0.4 s inside") };
    await expect(gpuFault(engine, container, ids, outside, 400)).rejects.toMatchObject(late);
    const proxy = await openEngineProxy(machine.directory);
    onTestFinished(proxy.close);
    proxy.onRequest = (head) => {
      if (/exec.*start/.test(head)) proxy.fault = "silent";
      return undefined;
    };
    const far = openEngine({ socketPath: proxy.path });
    const same = far.docker.getContainer(container.id);
    await expect(gpuFault(far, same, ids, async () => [], 400)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("did not answer within 9 s"),
    });
  });

  test("a check that cannot run is no fault: no such program, killed for memory, frozen, gone", async () => {
    for (const says of [undefined, "killed"] as const)
      await expect(driver.gpuFault((await run(says)).id)).rejects.toMatchObject({ code: "unavailable" });
    const { id, container } = await run("nvml");
    await container.pause();
    await expect(driver.gpuFault(id)).rejects.toMatchObject({ code: "refused" });
    await container.remove({ force: true });
    await expect(driver.gpuFault(id)).rejects.toMatchObject({ code: "refused" });
  });
});
