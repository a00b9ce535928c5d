import { rm } from "node:fs/promises";
import { describe, expect, onTestFinished, type TestContext, test, vi } from "vitest";
import { recordLog } from "../../logging/testing/record-log.ts";
import type { Driver, Spec } from "../driver.ts";
import { openDockerMachine, removeRuns, whyNoDocker } from "../testing/docker-machine.ts";
import { testSpec, waitForState } from "../testing/drive-run.ts";
import { openEngineProxy } from "../testing/engine-proxy.ts";
import { openSecondEngine, whyNoSecondEngine } from "../testing/second-engine.ts";
import { findLeaks, startFirewall } from "./firewall/start-firewall.ts";

// Of many at once on a small machine, one start may take what ten take elsewhere.
vi.setConfig({ testTimeout: 60_000 });

const noEngine = await whyNoDocker();
const noSecond = noEngine ?? (await whyNoSecondEngine());

/** Every verb that has to end, on a run and a home of its own, so that none waits for another. */
const verbs: Readonly<Record<string, (driver: Driver, wanted: Spec) => Promise<unknown>>> = {
  capabilities: (driver) => driver.capabilities(),
  prepare: (driver) => driver.prepare("jupyter"),
  observe: (driver, { id }) => driver.observe(id),
  list: (driver) => driver.list(),
  start: (driver, wanted) => driver.start(wanted),
  pause: (driver, { id }) => driver.pause(id),
  stop: (driver, { id }) => driver.stop(id, 5_000),
  remove: (driver, { id }) => driver.remove(id),
  deleteHome: (driver, { home }) => driver.deleteHome(home),
  stats: (driver, { id }) => driver.stats(id),
};

/** Of each verb: its code, or "done", and whether it took longer than 10 s. */
async function outcomes(driver: Driver): Promise<Record<string, string>> {
  const began = Date.now();
  const all = Object.entries(verbs).map(async ([name, verb]) => {
    const outcome = await verb(driver, testSpec()).then(
      () => "done",
      (error) => error.code,
    );
    return [name, Date.now() - began < 10_000 ? outcome : `late: ${outcome}`];
  });
  return Object.fromEntries(await Promise.all(all));
}

const unavailable = Object.fromEntries(Object.keys(verbs).map((name) => [name, "unavailable"]));

describe("without an engine", () => {
  test("every operation throws unavailable and names the address", async () => {
    const machine = openDockerMachine({ at: "/nowhere/docker.sock" });
    onTestFinished(() => rm(machine.directory, { recursive: true, force: true }));
    const driver = await machine.open();
    expect(await outcomes(driver)).toEqual(unavailable);
    await expect(driver.list()).rejects.toThrow(
      /No Docker Engine answers at \/nowhere\/docker.sock: install or start it/,
    );
  });
});

// Side by side: all that they do is wait for the limit.
describe
  .skipIf(noEngine)
  .concurrent(noEngine ? `an engine with faults, skipped because ${noEngine}` : "an engine with faults", () => {
    test.for(["silent", "cut"] as const)(
      "%s: every verb ends within 10 s as unavailable, and works again after",
      async (fault, context) => {
        const { driver, proxy } = await behindProxy(context);
        proxy.fault = fault;
        context.expect(await outcomes(driver)).toEqual(unavailable);
        proxy.fault = "none";
        context.expect(await driver.list()).toEqual([]);
      },
    );

    test("slow: every operation ends within 10 s, and none returns a wrong result", async (context) => {
      const { driver, proxy } = await behindProxy(context);
      proxy.fault = "slow";
      const { stats, ...others } = await outcomes(driver);
      context.expect(stats).toBe("refused");
      for (const outcome of Object.values(others)) context.expect(["done", "unavailable"]).toContain(outcome);
      context.expect(others).toMatchObject({ observe: "done", list: "done", deleteHome: "done" });
    });

    test("an operation that waits behind a slow one of the same run ends with its own timeout", async (context) => {
      const { driver, proxy } = await behindProxy(context);
      proxy.fault = "silent";
      const { id } = testSpec();
      const began = Date.now();
      const both = await Promise.allSettled([driver.stop(id, 0), driver.pause(id)]);
      const failed = { status: "rejected", reason: { code: "unavailable" } };
      context.expect(both).toMatchObject([failed, failed]);
      context.expect(Date.now() - began).toBeLessThan(10_000);
    });

    test("watch reconnects after its connection broke", async (context) => {
      const { machine, driver, proxy } = await behindProxy(context);
      const ending = new AbortController();
      const seen: string[] = [];
      const watching = (async () => {
        for await (const id of driver.watch(ending.signal)) seen.push(id);
      })();
      await context.expect.poll(() => proxy.count()).toBeGreaterThan(0);
      proxy.drop();
      const wanted = testSpec();
      const direct = await machine.open();
      context.onTestFinished(() => direct.stop(wanted.id, 0));
      await direct.start(wanted);
      await context.expect.poll(() => seen).toContain(wanted.id);
      ending.abort();
      await watching;
    });

    test("the probe of the firewall and its loop end too", async (context) => {
      const { machine, proxy } = await behindProxy(context);
      const install = machine.installOf("one");
      context.onTestFinished(() => removeRuns(install));
      const place = { install, image: async () => "berth/jupyter:local", isHost: false, port: 1 };
      proxy.onRequest = (head) => {
        if (head.includes("/attach")) proxy.fault = "silent";
        return undefined;
      };
      const { log, errors: failures } = recordLog();
      const watch = startFirewall({ ...place, engine: { socketPath: proxy.path } }, log);
      await context.expect.poll(() => failures, { timeout: 45_000 }).toMatchObject([{ code: "unavailable" }]);
      watch.trigger();
      await watch.stop();
      const engine = { url: "tcp+tls://gpu-1", problem: "its certificates cannot be read" };
      await context
        .expect(findLeaks({ ...place, engine }))
        .rejects.toMatchObject({ code: "unavailable", message: engine.problem });
    });

    async function behindProxy(context: TestContext) {
      const machine = openDockerMachine();
      const proxy = await openEngineProxy(machine.directory);
      context.onTestFinished(async () => {
        await proxy.close();
        await machine.close();
      });
      return { machine, proxy, driver: await machine.open("one", proxy.path) };
    }
  });

/** As the reconciler does, for whom an engine may be slow for a while: a busy machine is no failure. */
async function repeated(verb: () => Promise<void>): Promise<void> {
  const outcome = () =>
    verb().then(
      () => "done",
      ({ code }) => code,
    );
  await expect.poll(outcome, { timeout: 40_000 }).toBe("done");
}

describe.skipIf(noSecond)(
  noSecond ? `an engine that is killed, skipped because ${noSecond}` : "an engine that is killed",
  () => {
    test("its runs survive, operations are unavailable meanwhile, and everything goes on when it is back", async () => {
      const engine = await openSecondEngine();
      onTestFinished(engine.close);
      const machine = openDockerMachine({ at: engine.socketPath, types: new Map([["jupyter", engine.sleeper]]) });
      onTestFinished(machine.close);
      const driver = await machine.open();
      const engineOf = async (of: Driver) => (await of.machineId()).split(" with the homes in ")[0];
      const usual = openDockerMachine();
      onTestFinished(usual.close);
      expect(await engineOf(driver)).not.toBe(await engineOf(await usual.open()));
      const [kept, lost] = [testSpec(), testSpec()];
      for (const wanted of [kept, lost]) await repeated(() => driver.start(wanted));
      const before = await waitForState(driver, kept.id, "running");
      const { Pid } = (await machine.container(kept.id).inspect()).State;
      const { Pid: lostPid } = (await machine.container(lost.id).inspect()).State;

      await engine.kill();
      expect(await outcomes(driver)).toEqual({ ...unavailable, capabilities: "done" });
      expect(process.kill(Pid, 0)).toBe(true);
      process.kill(lostPid, "SIGKILL");
      await engine.start();

      expect(await driver.observe(kept.id)).toEqual(before);
      expect(await waitForState(driver, lost.id, "stopped")).toMatchObject({ state: "stopped" });
      await repeated(() => driver.pause(kept.id));
      expect(await driver.observe(kept.id)).toMatchObject({ state: "paused" });
      await repeated(() => driver.stop(kept.id, 100));
      expect(await driver.observe(kept.id)).toEqual({ state: "absent" });
    });
  },
);
