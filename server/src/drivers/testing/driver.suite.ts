import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { Capabilities, Driver, Spec } from "../driver.ts";
import { specHash } from "../spec-hash.ts";
import { callLab, remember, remembered, startReady, type TestMachine, testSpec, waitForState } from "./drive-run.ts";
import { homeSuite } from "./home.suite.ts";
import { pauseTests } from "./pause-tests.ts";
import { warmTests } from "./warm-tests.ts";

/** What a driver reports of the machine under test. */
interface Reported {
  readonly pause: boolean;
  readonly gpu: unknown;
  readonly gpus: unknown;
  readonly warm?: Capabilities["warm"];
}

/**
 * The contract of driver.ts for every driver. Uses files and memory as a customer does, by JupyterLab's API. `absent`: why it
 * cannot run here. Where `reported` has no pause, every pause must be refused as unsupported.
 */
export function driverSuite(
  name: string,
  openMachine: () => Promise<TestMachine>,
  absent?: string,
  reported: Reported = { pause: true, gpu: "none", gpus: [] },
): void {
  describe.skipIf(absent)(absent ? `${name}, skipped because ${absent}` : name, () => {
    let machine: TestMachine;
    let driver: Driver;
    beforeAll(async () => {
      machine = await openMachine();
      driver = await machine.open();
      await driver.prepare("jupyter");
    }, 300_000);
    afterAll(() => machine.close());

    const begin = async (wanted: Spec = testSpec()) => {
      onTestFinished(() => driver.stop(wanted.id, 0));
      return await startReady(driver, wanted);
    };

    const pause = async (id: string) => {
      const pausing = driver.pause(id);
      if (reported.pause) await pausing;
      else await expect(pausing).rejects.toMatchObject({ code: "unsupported" });
    };

    const given = () => ({ machine, driver, begin });
    if (reported.pause) pauseTests(given);
    warmTests(given);
    homeSuite(given);

    test("every driver of the machine names it alike", async () => {
      const id = await driver.machineId();
      expect(id).toMatch(/\w{6}/);
      expect(await (await machine.open("another")).machineId()).toBe(id);
    });

    test("capabilities are reported", async () => {
      expect(await driver.capabilities()).toMatchObject(reported);
    });

    test("a prepared image is ready at once with progress 100", async () => {
      const seen: number[] = [];
      await Promise.all([driver.prepare("jupyter", (percent) => seen.push(percent)), driver.prepare("jupyter")]);
      expect(seen.at(-1)).toBe(100);
    });

    test("an absent run is observed as absent; pause, stop, remove and deleteHome are no-ops", async () => {
      const { id, home } = testSpec();
      expect(await driver.observe(id)).toEqual({ state: "absent" });
      await pause(id);
      await driver.stop(id, 100);
      await driver.remove(id);
      await driver.deleteHome(home);
      expect(await driver.observe(id)).toEqual({ state: "absent" });
      await expect(driver.stats(id)).rejects.toMatchObject({ code: "refused" });
    });

    describe("one run, which these tests leave as it is", () => {
      let sharedRun: Promise<Spec> | undefined;
      const stands = () => (sharedRun ??= startReady(driver, testSpec()));
      afterAll(async () => sharedRun && driver.stop((await sharedRun).id, 0));

      test("without a GPU there is no fault and no leftover", async () => {
        const wanted = await stands();
        expect(await driver.gpuFault(wanted.id)).toBeUndefined();
        expect([...(await driver.gpuLeftovers([]))]).toEqual([]);
      });

      test("the programs of a run are listed from outside; an absent one has none to list", async () => {
        const wanted = await stands();
        const listed = await driver.processes(wanted.id);
        expect(
          listed.some(({ command }) => command.includes(" ")),
          "with arguments",
        ).toBe(true);
        for (const { pid, command } of listed) expect([pid > 0, command.trim() !== ""]).toEqual([true, true]);
        await expect(driver.processes(testSpec().id)).rejects.toMatchObject({ code: "refused" });
      });

      test("a started run is observed with generation, hash and GPUs, is listed, and needs its token", async () => {
        const wanted = await stands();
        const seen = await driver.observe(wanted.id);
        expect(seen).toMatchObject({ generation: 1, specHash: specHash(wanted), gpus: ["cpu-1"] });
        expect((await driver.list()).map(({ id }) => id)).toContain(wanted.id);
        await expect.poll(() => callLab(driver, wanted, "GET", "/api")).toMatchObject({ status: 200 });
        expect(await callLab(driver, wanted, "GET", "/lab")).toMatchObject({ status: 200 });
        expect(await callLab(driver, { ...wanted, token: "other" }, "GET", "/lab")).toMatchObject({ status: 302 });
        expect(await callLab(driver, { ...wanted, token: "other" }, "GET", "/api/contents/")).toMatchObject({
          status: 403,
        });
      });

      test("a repeated start, also by another driver object, is the same run", async () => {
        const wanted = await stands();
        const memory = await remember(driver, wanted);
        await driver.start(wanted);
        const second = await machine.open();
        await second.start(wanted);
        expect(await second.observe(wanted.id)).toEqual(await driver.observe(wanted.id));
        expect(await remembered(second, wanted)).toEqual(memory);
      });

      test("a run of another installation is neither observed nor ended", async () => {
        const wanted = await stands();
        const other = await machine.open("other");
        expect(await other.observe(wanted.id)).toEqual({ state: "absent" });
        expect(await other.list()).toEqual([]);
        await other.remove(wanted.id);
        await expect(other.deleteHome(wanted.home)).rejects.toMatchObject({ code: "refused" });
        expect(await driver.observe(wanted.id)).toMatchObject({ state: "running" });
      });

      test("stats grow with the usage of the run", async () => {
        const wanted = await stands();
        const stats = await driver.stats(wanted.id);
        expect(stats.memoryMb).toBeGreaterThan(10);
        expect(stats.pids).toBeGreaterThan(1);
        expect(stats.cpuSeconds).toBeGreaterThanOrEqual(0);
        expect(stats.gpus).toEqual([]);
        await callLab(driver, wanted, "PUT", "/api/contents/big.txt", 5_000, "x".repeat(3_000_000));
        const grown = await driver.homeMb(wanted.home);
        expect(grown).toBeGreaterThan(stats.homeMb + 2.5);
        expect((await driver.stats(wanted.id)).homeMb).toBeGreaterThanOrEqual(grown);
      });
    });

    test("start works from every state: absent, starting, running, paused, stopped", async () => {
      const wanted = testSpec();
      onTestFinished(() => driver.stop(wanted.id, 0));
      const starts: Record<string, () => Promise<unknown>> = {
        absent: async () => {},
        starting: async () => {},
        running: () => waitForState(driver, wanted.id, "running"),
        paused: () => pause(wanted.id),
        stopped: () => machine.crash(driver, wanted.id).then(() => waitForState(driver, wanted.id, "stopped")),
      };
      for (const reach of Object.values(starts)) {
        await reach();
        await driver.start(wanted);
        expect(["starting", "running"]).toContain((await driver.observe(wanted.id)).state);
      }
      await waitForState(driver, wanted.id, "running");
      expect((await driver.list()).filter(({ id }) => id === wanted.id)).toHaveLength(1);
    });

    test("two starts at once make one run", async () => {
      const wanted = testSpec();
      onTestFinished(() => driver.stop(wanted.id, 0));
      await Promise.all([driver.start(wanted), driver.start(wanted)]);
      await waitForState(driver, wanted.id, "running");
      expect((await driver.list()).filter(({ id }) => id === wanted.id)).toHaveLength(1);
    });

    test("a stop is idempotent and removes the run; the next start has new memory and the old files", async () => {
      const wanted = await begin();
      await remember(driver, wanted);
      await callLab(driver, wanted, "PUT", "/api/contents/kept.txt", 5_000, "still here");
      await driver.stop(wanted.id, 3_000);
      await driver.stop(wanted.id, 3_000);
      expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
      expect((await driver.list()).map(({ id }) => id)).not.toContain(wanted.id);
      const again = await begin({ ...wanted, generation: 2, token: "new" });
      expect(await driver.observe(wanted.id)).toMatchObject({ generation: 2 });
      expect(await remembered(driver, again)).toEqual([]);
      expect(await callLab(driver, again, "GET", "/api/contents/kept.txt")).toMatchObject({
        body: { content: "still here" },
      });
    });

    test("a run that ended by itself is stopped with its exit code; start makes a new one", async () => {
      const wanted = await begin();
      await machine.crash(driver, wanted.id);
      const seen = await waitForState(driver, wanted.id, "stopped");
      expect(seen).toMatchObject({ exit: { outOfMemory: false } });
      expect(seen.state === "stopped" && seen.exit.code).not.toBe(0);
      await pause(wanted.id);
      await driver.start(wanted);
      await waitForState(driver, wanted.id, "running");
      await driver.remove(wanted.id);
      expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
    });

    test("an older generation is replaced, a newer one is stale, the same one with another hash is refused", async () => {
      const wanted = await begin();
      await expect(driver.start({ ...wanted, token: "other" })).rejects.toMatchObject({ code: "refused" });
      const next = { ...wanted, generation: 2, token: "second" };
      await driver.start(next);
      await waitForState(driver, wanted.id, "running");
      expect(await driver.observe(wanted.id)).toMatchObject({ generation: 2, specHash: specHash(next) });
      await expect(driver.start(wanted)).rejects.toMatchObject({ code: "stale" });
      await pause(wanted.id);
      await expect(driver.start({ ...next, gpus: [] })).rejects.toMatchObject({ code: "refused" });
      await driver.start({ ...next, generation: 3 });
      await waitForState(driver, wanted.id, "running");
      expect(await driver.observe(wanted.id)).toMatchObject({ generation: 3 });
    });

    test("an aborted start leaves nothing", async () => {
      const wanted = testSpec();
      onTestFinished(() => driver.stop(wanted.id, 0));
      await expect(driver.start(wanted, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
      expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
    });

    test("a path traversal in a name is refused", async () => {
      await expect(driver.start(testSpec({ home: "../x" }))).rejects.toMatchObject({ code: "refused" });
      await expect(driver.start(testSpec({ id: "a/b" }))).rejects.toMatchObject({ code: "refused" });
      await expect(driver.deleteHome("..")).rejects.toMatchObject({ code: "refused" });
    });

    test("logs are the last lines, then new ones until the run is gone", async () => {
      const wanted = await begin();
      const all: string[] = [];
      const following = (async () => {
        const signal = new AbortController().signal;
        for await (const line of driver.logs(wanted.id, { tail: 1_000, follow: true, signal })) all.push(line);
      })();
      await expect.poll(() => all.length).toBeGreaterThan(0);
      const last: string[] = [];
      const once = { tail: 1, follow: false, signal: new AbortController().signal };
      for await (const line of driver.logs(wanted.id, once)) last.push(line);
      expect(last).toHaveLength(1);
      expect(all.join("\n")).not.toContain(wanted.token);
      await driver.stop(wanted.id, 1_000);
      await following;
    });

    test("watch yields changed runs and ends with its signal", async () => {
      const wanted = await begin();
      const ending = new AbortController();
      const seen = new Set<string>();
      const watching = (async () => {
        for await (const id of driver.watch(ending.signal)) seen.add(id);
      })();
      await pause(wanted.id);
      await driver.start(wanted);
      await driver.stop(wanted.id, 1_000);
      await expect.poll(() => [...seen]).toContain(wanted.id);
      ending.abort();
      await watching;
    });
  });
}
