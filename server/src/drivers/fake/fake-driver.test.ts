import { Agent, WebSocket } from "undici";
import { expect, onTestFinished, test } from "vitest";
import { callLab, testSpec, waitForState } from "../testing/drive-run.ts";
import { driverSuite } from "../testing/driver.suite.ts";
import { fakeDriver } from "./fake-driver.ts";
import { fakeEngineDriver } from "./fake-engine-driver.ts";
import { fakeMachine } from "./fake-machine.ts";
import { type FakeEngine, serveFakeEngine } from "./serve-fake-engine.ts";

driverSuite("fake driver", async () => {
  const machine = fakeMachine();
  return {
    open: async (install = "one") => fakeDriver({ startMs: 10 }, { machine, install }),
    crash: async (_, id) => fakeDriver({}, { machine, install: "one" }).crash(id),
    close: () => fakeDriver({}, { machine }).close(),
  };
});

driverSuite("fake engine, used by several processes", async () => {
  const machine = fakeMachine();
  const served = new Map<string, Promise<FakeEngine>>();
  const engineOf = (install: string) => {
    const engine = served.get(install) ?? serveFakeEngine(fakeDriver({ startMs: 10 }, { machine, install }));
    served.set(install, engine);
    return engine;
  };
  return {
    open: async (install = "one") => fakeEngineDriver((await engineOf(install)).port),
    crash: async (_, id) => fakeDriver({}, { machine, install: "one" }).crash(id),
    async close() {
      for (const engine of served.values()) await (await engine).close();
      await fakeDriver({}, { machine }).close();
    },
  };
});

function setup(options: Record<string, number> = {}) {
  const driver = fakeDriver(options);
  onTestFinished(() => driver.close());
  return driver;
}

test("with fail=1 every start is unavailable and leaves nothing", async () => {
  const driver = setup({ fail: 1 });
  const wanted = testSpec();
  await expect(driver.start(wanted)).rejects.toMatchObject({ code: "unavailable" });
  expect(await driver.observe(wanted.id)).toEqual({ state: "absent" });
});

test("with pause=0 a pause is unsupported, and the capabilities say so", async () => {
  const driver = setup({ pause: 0 });
  expect(await driver.capabilities()).toMatchObject({ pause: false });
  await expect(driver.pause("any")).rejects.toMatchObject({ code: "unsupported" });
});

test("startMs and answerMs: starting, then running and not ready, then 200", async () => {
  const [silent, driver] = [setup({ startMs: 60, answerMs: 3_600_000 }), setup({ startMs: 60, answerMs: 150 })];
  const wanted = testSpec();
  for (const each of [silent, driver]) {
    await each.start(wanted);
    expect(await each.observe(wanted.id)).toMatchObject({ state: "starting" });
    await waitForState(each, wanted.id, "running");
  }
  expect(await callLab(silent, wanted, "GET", "/api")).toMatchObject({ status: 503 });
  await expect.poll(() => callLab(driver, wanted, "GET", "/api"), { timeout: 10_000 }).toMatchObject({ status: 200 });
});

test("an injected failure happens once, and each call is counted", async () => {
  const driver = setup();
  const wanted = testSpec();
  driver.failNext("start", "no_image");
  await expect(driver.start(wanted)).rejects.toMatchObject({ code: "no_image" });
  await driver.start(wanted);
  expect(driver.calls.get("start")).toBe(2);
});

test("a hanging start ends with its signal, or goes on when released", async () => {
  const driver = setup();
  const release = driver.hang("start");
  const aborted = new AbortController();
  const first = driver.start(testSpec(), aborted.signal);
  aborted.abort(new Error("enough"));
  await expect(first).rejects.toThrow("enough");
  const wanted = testSpec();
  const second = driver.start(wanted);
  release();
  await second;
  expect(await driver.observe(wanted.id)).toMatchObject({ state: "running" });
});

test("gpus=2: two GPUs of this machine's own", async () => {
  const { gpu, gpus } = await setup({ gpus: 2 }).capabilities();
  expect(gpu).toBe("cdi");
  expect(new Set(gpus.map(({ id }) => id)).size).toBe(2);
});

test("a WebSocket is echoed, small and large, and ends with the run", async () => {
  const driver = setup();
  const wanted = testSpec();
  await driver.start(wanted);
  const seen = await driver.observe(wanted.id);
  if (seen.state !== "running" || !("socketPath" in seen.endpoint)) throw new Error("not running");
  const dispatcher = new Agent({ connect: { socketPath: seen.endpoint.socketPath } });
  const socket = new WebSocket(`ws://name.localhost/api/kernels/1/channels?token=${wanted.token}`, { dispatcher });
  const received: string[] = [];
  socket.addEventListener("message", ({ data }) => received.push(String(data)));
  socket.addEventListener("open", () => {
    for (const size of [5, 300, 70_000]) socket.send("x".repeat(size));
  });
  await expect.poll(() => received.map((text) => text.length)).toEqual([5, 300, 70_000]);
  const closed = new Promise((resolve) => socket.addEventListener("close", resolve));
  await driver.stop(wanted.id, 0);
  await closed;
});
