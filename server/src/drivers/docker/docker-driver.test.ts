import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Driver, Spec } from "../driver.ts";
import { specHash } from "../spec-hash.ts";
import { openDockerMachine, whyNoDocker } from "../testing/docker-machine.ts";
import { callLab, testSpec, waitForState, waitUntilReady } from "../testing/drive-run.ts";
import { driverSuite } from "../testing/driver.suite.ts";
import { openEngineProxy } from "../testing/engine-proxy.ts";
import { label } from "./containers/container-body.ts";
import { networkName } from "./containers/ensure-network.ts";

// Of many at once on a small machine, one start may take what ten take elsewhere.
vi.setConfig({ testTimeout: 60_000 });

const absent = await whyNoDocker();

driverSuite(
  "docker driver",
  async () => {
    const { open, close, container } = openDockerMachine();
    return { open, close, crash: async (_, id) => container(id).kill() };
  },
  absent,
);

describe.skipIf(absent)(
  absent ? `docker driver beyond the suite, skipped because ${absent}` : "docker driver beyond the suite",
  () => {
    let machine: ReturnType<typeof openDockerMachine>;
    let driver: Driver;
    beforeAll(async () => {
      machine = openDockerMachine();
      driver = await machine.open();
    });
    afterAll(() => machine.close());

    async function begin(wanted: Spec = testSpec()): Promise<Spec> {
      onTestFinished(() => driver.stop(wanted.id, 0));
      await driver.start(wanted);
      return wanted;
    }

    /** A container that is no run of ours, made beside the driver; not started. */
    async function foreignContainer(name: string, Labels: Record<string, string> = {}, Entrypoint?: string[]) {
      const body = { name, Image: "berth/jupyter:local", Labels, ...(Entrypoint && { Entrypoint }) };
      const container = await machine.engine.createContainer(body);
      onTestFinished(() => container.remove({ force: true }));
      return container;
    }

    test("G111 a container on the files of another folder is not used, restarted or listed", async () => {
      const wanted = await begin();
      const moved = await machine.open("one", undefined, "published", join(machine.directory, "moved"));
      const refusal = { code: "no_home", message: expect.stringContaining(join(machine.homeRoot, wanted.home)) };
      await expect(moved.observe(wanted.id)).rejects.toMatchObject(refusal);
      await expect(moved.start({ ...wanted, generation: 2 })).rejects.toMatchObject(refusal);
      expect((await moved.list()).map(({ id }) => id)).not.toContain(wanted.id);
      expect(await driver.observe(wanted.id)).toMatchObject({ generation: 1 });
    });

    test("a run has its limits, one folder and no other rights", async () => {
      const wanted = await begin(testSpec({ limits: { cpus: 64, memoryMb: 512, shmMb: 64, pids: 77, diskGb: 1 } }));
      const [{ Config, HostConfig, Mounts }, { NCPU }] = await Promise.all([
        machine.container(wanted.id).inspect(),
        machine.engine.info(),
      ]);
      expect(HostConfig).toMatchObject({
        Privileged: false,
        CapAdd: null,
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        ReadonlyRootfs: true,
        IpcMode: "private",
        CgroupnsMode: "private",
        PidMode: "",
        UTSMode: "",
        UsernsMode: "",
        Init: true,
        OomScoreAdj: 500,
        RestartPolicy: { Name: "no" },
        LogConfig: { Type: "json-file", Config: { "max-size": "10m", "max-file": "3" } },
        NanoCpus: NCPU * 1e9,
        Memory: 512 * 1024 * 1024,
        MemorySwap: 512 * 1024 * 1024,
        ShmSize: 64 * 1024 * 1024,
        PidsLimit: 77,
        Devices: null,
        DeviceRequests: null,
        Binds: null,
        NetworkMode: networkName(machine.installOf("one")),
      });
      expect(Object.keys(HostConfig.Tmpfs ?? {})).toEqual(["/run", "/tmp"]);
      expect(Mounts.map(({ Type, Source, Destination }) => [Type, Source, Destination])).toEqual([
        ["bind", join(machine.homeRoot, wanted.home), "/home/berth"],
      ]);
      expect(Config.User).toBe("1000:1000");
      expect(Config.Labels).toMatchObject({
        [label.environment]: wanted.id,
        [label.generation]: "1",
        [label.spec]: specHash(wanted),
        [label.gpus]: "cpu-1",
        [label.home]: wanted.home,
      });
      expect(Config.Env).toContain("NVIDIA_VISIBLE_DEVICES=void");
      expect(await stat(join(machine.homeRoot, wanted.home))).toMatchObject({ uid: 1000, mode: 0o40700 });
    });

    test("a run's port is on this machine's loopback only, on a network whose runs cannot reach each other", async () => {
      const wanted = await begin();
      const seen = await waitForState(driver, wanted.id, "running");
      expect(seen).toMatchObject({ endpoint: { host: "127.0.0.1", port: expect.any(Number) } });
      const { NetworkSettings } = await machine.container(wanted.id).inspect();
      expect(NetworkSettings.Ports["8888/tcp"]).toHaveLength(1);
      const network = await machine.engine.getNetwork(networkName(machine.installOf("one"))).inspect();
      expect(network.Options).toMatchObject({ "com.docker.network.bridge.enable_icc": "false" });
    });

    test("a server on the same bridge uses the container's own address", async () => {
      const inside = await machine.open("one", undefined, "network");
      const wanted = testSpec();
      onTestFinished(() => driver.stop(wanted.id, 0));
      await inside.start(wanted);
      const seen = await waitForState(inside, wanted.id, "running");
      expect(seen).toMatchObject({ endpoint: { host: expect.stringMatching(/^\d+(\.\d+){3}$/), port: 8888 } });
      await waitUntilReady(inside, wanted);
      expect((await machine.container(wanted.id).inspect()).HostConfig.PortBindings ?? {}).toEqual({});
    });

    test("a lost network is created again by the next start", async () => {
      const own = await machine.open("netless");
      const name = networkName(machine.installOf("netless"));
      const wanted = testSpec();
      onTestFinished(() => own.stop(wanted.id, 0));
      await own.start(wanted);
      await own.stop(wanted.id, 0);
      await machine.engine.getNetwork(name).remove();
      await own.start({ ...wanted, generation: 2 });
      expect(await own.observe(wanted.id)).toMatchObject({ state: "running", generation: 2 });
    });

    test("after a server was killed between create and start, the run is observed and the next start starts it", async () => {
      const wanted = testSpec();
      onTestFinished(() => driver.stop(wanted.id, 0));
      await machine.createAndDie(wanted);
      expect((await driver.list()).find(({ id }) => id === wanted.id)?.observed.state).toBe("starting");
      await driver.start(wanted);
      expect(await driver.observe(wanted.id)).toMatchObject({ state: "running" });
    });

    test("two servers resume the same paused run at once, and both succeed", async () => {
      const wanted = await begin();
      const second = await machine.open();
      for (let round = 0; round < 5; round += 1) {
        await driver.pause(wanted.id);
        await Promise.all([driver.start(wanted), second.start(wanted)]);
        // The engine may still call it paused for a moment.
        expect(await waitForState(driver, wanted.id, "running")).toMatchObject({ generation: 1 });
      }
    });

    test("two servers start the same run at once: both succeed, and there is one run", async () => {
      const wanted = testSpec();
      onTestFinished(() => driver.stop(wanted.id, 0));
      const second = await machine.open();
      // Each has learnt by now how many open files this engine can give.
      for (const server of [driver, second]) {
        const first = testSpec();
        onTestFinished(() => driver.stop(first.id, 0));
        await server.start(first);
      }
      await Promise.all([driver.start(wanted), second.start(wanted)]);
      expect(await second.observe(wanted.id)).toMatchObject({ state: "running", generation: 1 });
    });

    test("a later start of an older run fails and leaves the newer one alone", async () => {
      const wanted = testSpec();
      onTestFinished(() => driver.stop(wanted.id, 0));
      const proxy = await openEngineProxy(machine.directory);
      onTestFinished(proxy.close);
      const late = await machine.open("one", proxy.path);
      proxy.onRequest = (head) => {
        return head.includes("/containers/create") ? driver.start({ ...wanted, generation: 2 }) : undefined;
      };
      await expect(late.start(wanted)).rejects.toMatchObject({ code: "refused" });
      expect(await driver.observe(wanted.id)).toMatchObject({ state: "running", generation: 2 });
    });

    test("a start that is aborted half-way leaves nothing", async () => {
      const wanted = testSpec();
      onTestFinished(() => driver.stop(wanted.id, 0));
      const proxy = await openEngineProxy(machine.directory);
      onTestFinished(proxy.close);
      const watched = await machine.open("one", proxy.path);
      const enough = new AbortController();
      proxy.onRequest = (head) => {
        if (head.includes("/start")) enough.abort(new Error("enough"));
        return undefined;
      };
      await expect(watched.start(wanted, enough.signal)).rejects.toThrow("enough");
      expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
    });

    test("a container that is not started within 3 s counts as stopped, and can be removed", async () => {
      const wanted = testSpec();
      onTestFinished(() => driver.stop(wanted.id, 0));
      await machine.createAndDie(wanted);
      await waitForState(driver, wanted.id, "stopped");
      await expect(driver.deleteHome(wanted.home)).rejects.toMatchObject({ code: "refused" });
      await driver.remove(wanted.id);
      expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
    });

    test("another owner's container of the same name is never observed, ended or replaced", async () => {
      const wanted = testSpec();
      const container = await foreignContainer(`env-${wanted.id}`, {}, ["echo", "what another owner wrote"]);
      await container.start();
      await container.wait();
      expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
      for (const follow of [false, true])
        for await (const line of driver.logs(wanted.id, { tail: 10, follow, signal: AbortSignal.timeout(5_000) }))
          expect(line, "a line of another owner's log").toBeUndefined();
      await driver.remove(wanted.id);
      await driver.pause(wanted.id);
      await expect(driver.start(wanted)).rejects.toMatchObject({ code: "refused" });
      expect((await driver.list()).map(({ id }) => id)).not.toContain(wanted.id);
      expect((await container.inspect()).State.Status).toBe("exited");
    });

    test("the error names an absent GPU, a type without an image and a removed image", async () => {
      await expect(driver.start(testSpec({ gpus: ["GPU-1f2e"] }))).rejects.toMatchObject({ code: "no_gpu" });
      await expect(driver.start(testSpec({ image: "pytorch" }))).rejects.toMatchObject({ code: "no_image" });
      await expect(driver.prepare("pytorch")).rejects.toMatchObject({
        code: "no_image",
        message: expect.stringContaining("npm run images -- pytorch"),
      });
      const lost = openDockerMachine({ types: new Map([["jupyter", "berth/nothing:here"]]) });
      onTestFinished(() => lost.close());
      const poor = await lost.open();
      const wanted = testSpec();
      await expect(poor.prepare("jupyter")).rejects.toMatchObject({ code: "no_image" });
      await expect(poor.start(wanted)).rejects.toMatchObject({ code: "no_image" });
      expect(await poor.observe(wanted.id)).toEqual({ state: "absent" });
    });

    test("a run above its memory limit ends as out of memory", async () => {
      const limits = { cpus: 1, memoryMb: 24, shmMb: 16, pids: 50, diskGb: 1 };
      const end = async () => {
        const { id } = await begin(testSpec({ limits }));
        return await waitForState(driver, id, "stopped");
      };
      // The image's files are in memory then. A run that has to read them within its limit crawls and does not end.
      await waitUntilReady(driver, await begin());
      // An engine that hears of the end before it hears of the memory never says why a run ended.
      await expect.poll(end, { timeout: 30_000 }).toMatchObject({ exit: { outOfMemory: true } });
    });

    test("a run has nothing of the server: its variables are the image's and its token only", async () => {
      const wanted = await begin();
      await waitUntilReady(driver, wanted);
      const { Config } = await machine.container(wanted.id).inspect();
      const image = await machine.engine.getImage("berth/jupyter:local").inspect();
      const own = Config.Env.filter((entry) => !image.Config.Env.includes(entry));
      expect(own).toEqual([`JUPYTER_TOKEN=${wanted.token}`, "NVIDIA_VISIBLE_DEVICES=void"]);
      expect(await callLab(driver, wanted, "GET", "/api/contents/")).toMatchObject({ status: 200 });
    });
  },
);
