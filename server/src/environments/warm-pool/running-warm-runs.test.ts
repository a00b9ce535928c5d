import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { Driver } from "../../drivers/driver.ts";
import { expectedNode } from "../../drivers/expected-node.ts";
import type { FakeControls } from "../../drivers/fake/fake-driver.ts";
import { startGpuChecks } from "../hosts/start-gpu-checks.ts";
import { launchTimes } from "../reconciler/launch-times.ts";
import { inMs } from "../testing/setup-environments.ts";
import { pollOptions, setupWarmPool } from "../testing/setup-warm-pool.ts";

/** A machine that cannot freeze a run, such as a cluster: its warm runs go on running. */
const setup = (gpus = 2) => setupWarmPool({ gpus, pause: 0, warm: 1 });

test("G205 a paid order takes the running warm run as it is, and another one replaces it afterwards", async () => {
  const { db, pool, stands, start, rent, read, becomes, driver, shared } = await setup();
  pool();
  start();
  const ready = await stands();
  const run = driver.machine.runs.get(ready);
  const id = await rent();
  expect(id).toBe(ready);
  await becomes(id, "active");
  expect(driver.machine.runs.get(id)).toBe(run);
  expect(await read(id)).toMatchObject({ generation: 1, warm: true, run_token: run?.spec.token, home: run?.spec.home });
  expect(await launchTimes(db)).toMatchObject({ cold: null, warm: { count: 1 } });
  expect(await stands()).not.toBe(id);
  expect(shared).toEqual([]);
});

test("a running warm run that answers a little later than a frozen one may is still no cold start", async () => {
  const { pool, stands, start, rent, read, becomes, deps } = await setup();
  pool();
  await stands();
  const id = await rent();
  const { promise, resolve } = Promise.withResolvers<void>();
  const isReady: typeof deps.isReady = async (...run) => {
    setTimeout(resolve, 1500);
    await promise;
    return await deps.isReady(...run);
  };
  start({ isReady });
  await becomes(id, "active");
  expect(await read(id)).toMatchObject({ generation: 1, warm: true });
});

test.each<[string, (driver: Driver & FakeControls, id: string) => Promise<unknown>]>([
  ["has crashed", (driver, id) => driver.crash(id)],
  ["is gone", (driver, id) => driver.remove(id)],
  ["no longer answers", (driver, id) => driver.silence(id)],
])("a warm run that %s makes way for another as soon as its driver hints at it", async (_, end) => {
  const { db, pool, stands, start, driver, warm, shared } = await setup();
  const filling = pool();
  start();
  const id = await stands();
  // It would be looked at in an hour.
  await sql`update warm_runs set due_at = now() + interval '1 hour', created_at = now() - interval '1 hour'`.execute(
    db,
  );
  await end(driver, id);
  const remaining = async () => {
    // Its interval is five seconds.
    filling.trigger();
    return (await warm()).map((row) => row.id);
  };
  await expect.poll(remaining, pollOptions).not.toContain(id);
  expect(await stands()).not.toBe(id);
  expect(await driver.observe(id)).toEqual({ state: "absent" });
  expect(driver.machine.homes.size).toBe(1);
  expect(shared).toEqual([]);
});

test("a warm run that does not answer once is not handed out meanwhile, and stays when it answers again", async () => {
  const { db, pool, stands, deps, driver, warm } = await setup();
  await pool().stop();
  const states: string[] = [];
  let asked = 0;
  const isReady: typeof deps.isReady = async (...run) => {
    asked += 1;
    states.push(...(await warm()).map(({ state }) => state));
    return asked !== 2 && (await deps.isReady(...run));
  };
  const filling = pool({ jupyter: 1 }, { isReady });
  const id = await stands();
  const run = driver.machine.runs.get(id);
  await sql`update warm_runs set due_at = now(), created_at = now() - interval '1 hour'`.execute(db);
  filling.trigger();
  await expect.poll(() => asked, pollOptions).toBe(3);
  expect(await stands()).toBe(id);
  expect(driver.machine.runs.get(id)).toBe(run);
  expect(states).toEqual(["starting", "ready", "starting"]);
});

test("G205 a warm run whose node gives no sign is handed to nobody, and nothing starts on its GPU until it is removed", async () => {
  const { db, pool, stands, start, rent, read, becomes, driver, warm, pass } = await setup(1);
  const filling = pool();
  const id = await stands();
  driver.machine.lostRuns.set(id, { since: inMs(-60_000) });
  await sql`update warm_runs set due_at = now()`.execute(db);
  filling.trigger();
  await expect.poll(async () => (await warm()).map(({ state }) => state), pollOptions).toEqual(["ending"]);
  const other = await rent();
  expect(other).not.toBe(id);
  await pass();
  expect(await read(other)).toMatchObject({ status: "pending", warm: false, run_token: null });
  expect([...driver.machine.runs.keys()]).toEqual([id]);
  driver.machine.lostRuns.clear();
  start();
  await becomes(other, "active");
  expect([...driver.machine.runs.keys()]).toEqual([other]);
});

test("a warm run that could not be observed last is handed to nobody, and stays", async () => {
  const { db, pool, stands, rent, driver, warm } = await setup();
  const filling = pool();
  const id = await stands();
  driver.failNext("observe", "unavailable", 100);
  await sql`update warm_runs set due_at = now()`.execute(db);
  filling.trigger();
  await expect.poll(async () => (await warm())[0]?.attempts, pollOptions).toBeGreaterThan(0);
  expect(await rent()).not.toBe(id);
  expect(await warm()).toMatchObject([{ id, state: "ready", order_id: null }]);
});

test("a warm run is never on a node that has yet to join", async () => {
  const { db, pool, stands, warm, driver } = await setup();
  const ids = (await driver.capabilities()).gpus.map(({ id }) => id);
  // The pool takes from the end.
  await sql`update gpus set node = case when id = ${ids[1]} then ${expectedNode(1)} else 'a' end`.execute(db);
  pool();
  await stands();
  expect((await warm()).map(({ gpus }) => gpus)).toEqual([[ids[0]]]);
});

test("nobody's warm run is checked like an environment: not its GPUs, not its use", async () => {
  const { pool, stands, start, rent, becomes, driver, deps, warm } = await setup(3);
  start();
  const environment = await rent();
  await becomes(environment, "active");
  pool();
  const id = await stands();
  driver.machine.gpuFaults.set(id, "fell off the bus");
  const checked: string[] = [];
  const gpuFault: Driver["gpuFault"] = async (run) => {
    checked.push(run);
    return await driver.gpuFault(run);
  };
  const checks = startGpuChecks({ ...deps, drivers: new Map([["host", { ...driver, gpuFault }]]), intervalMs: 10 });
  onTestFinished(() => checks.stop());
  await expect.poll(() => checked.length, pollOptions).toBeGreaterThan(3);
  expect(new Set(checked)).toEqual(new Set([environment]));
  expect((await warm()).map((row) => row.id)).toEqual([id]);
});
