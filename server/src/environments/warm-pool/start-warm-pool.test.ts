import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { Driver } from "../../drivers/driver.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { hold } from "../allocation/hold.ts";
import { registerHost } from "../hosts/register-host.ts";
import { enterQueue, exitQueue } from "../queue/join-queue.ts";
import { launchTimes } from "../reconciler/launch-times.ts";
import { inventoryOf } from "../reconciler/reconcile-inventory.ts";
import { dying } from "../testing/dying-driver.ts";
import { addOrder, inMs } from "../testing/setup-environments.ts";
import { pollOptions, setupWarmPool } from "../testing/setup-warm-pool.ts";
import { returnLapsedWarmRuns } from "./warm-runs.ts";

test("a paid order resumes the warm run, and another one replaces it afterwards", async () => {
  const { db, pool, stands, start, rent, read, becomes, driver, warm, shared } = await setupWarmPool();
  pool();
  start();
  const ready = await stands();
  const anHourAgo = new Date(Date.now() - 3_600_000);
  Object.assign(driver.machine.runs.get(ready) ?? {}, { createdAt: anHourAgo, startedAt: anHourAgo });
  const before = await driver.observe(ready);
  expect(before).toMatchObject({ state: "paused", generation: 1 });
  const id = await rent();
  expect(id).toBe(ready);
  await becomes(id, "active");
  expect(await driver.observe(id)).toMatchObject({ state: "running", generation: 1 });
  expect(driver.machine.runs.get(id)?.createdAt).toEqual(before.state === "absent" ? undefined : before.createdAt);
  const { requested_at } = await read(id);
  const { rows } = await sql<{ stage: string; early: boolean }>`
    select stage, at < ${requested_at} as early from launch_stages where environment_id = ${id} order by at`.execute(
    db,
  );
  expect(rows.filter(({ early }) => early).map(({ stage }) => stage)).toEqual(["ordered"]);
  expect(rows).toHaveLength(8);
  expect(await launchTimes(db)).toMatchObject({ cold: null, warm: { count: 1 } });
  expect(await stands()).not.toBe(id);
  expect(await warm()).toHaveLength(1);
  expect(shared).toEqual([]);
});

test.each([
  ["has crashed", async (driver: Driver & { crash(id: string): Promise<void> }, id: string) => driver.crash(id)],
  ["is gone", async (driver: Driver, id: string) => driver.remove(id)],
])("a warm run that %s is replaced by a cold start on the same GPUs", async (_, end) => {
  const { db, pool, stands, start, rent, read, becomes, driver, leases } = await setupWarmPool();
  pool();
  const ready = await stands();
  await end(driver, ready);
  const id = await rent();
  expect(id).toBe(ready);
  const { run_token } = await read(id);
  start();
  await becomes(id, "active");
  expect(await read(id)).toMatchObject({ generation: 2, warm: false, attempts: 0 });
  expect((await read(id)).run_token).not.toBe(run_token);
  expect(await leases(id)).toBe(1);
  expect(await launchTimes(db)).toMatchObject({ cold: { count: 1 }, warm: null });
});

test("a warm run that is not ready within a second of its resume is replaced by a cold start", async () => {
  const { pool, stands, start, rent, read, becomes, deps } = await setupWarmPool();
  pool();
  await stands();
  const id = await rent();
  const { run_token: first } = await read(id);
  const answers: typeof deps.isReady = async (endpoint, token) =>
    token === first ? await new Promise<boolean>(() => {}) : await deps.isReady(endpoint, token);
  start({ isReady: answers });
  const began = performance.now();
  await becomes(id, "active");
  expect(performance.now() - began).toBeGreaterThan(1000);
  expect(await read(id)).toMatchObject({ generation: 2, warm: false });
});

test("a launch on the GPU of a warm run waits until that run is removed", async () => {
  const { db, pool, stands, start, rent, becomes, driver, warm, shared, poolLeases } = await setupWarmPool({
    gpus: 1,
    stopMs: 300,
  });
  pool();
  start();
  const ready = await stands();
  await sql`update warm_runs set container_type = 'pytorch'`.execute(db);
  const id = await rent();
  expect(id).not.toBe(ready);
  await becomes(id, "active");
  expect(shared).toEqual([]);
  expect(await driver.observe(ready)).toEqual({ state: "absent" });
  expect([...driver.machine.homes.keys()]).toHaveLength(1);
  expect(await warm()).toEqual([]);
  expect(await poolLeases()).toBe(0);
});

test.each([
  ["a setting that keeps none", "select 1", {}],
  ["a day", "update warm_runs set created_at = now() - interval '25 hours'", { jupyter: 1 }],
  ["a host that drains", "update hosts set drained_at = now()", { jupyter: 1 }],
  ["a quarantined GPU", "update gpus set quarantined_at = now()", { jupyter: 1 }],
])("%s ends the warm run and deletes its home", async (_, change, sizes) => {
  const { db, pool, stands, driver, warm } = await setupWarmPool({ gpus: 1 });
  const first = pool();
  const id = await stands();
  const [{ home = "" } = {}] = await warm();
  expect(driver.machine.homes.has(home)).toBe(true);
  await first.stop();
  await sql.raw(change).execute(db);
  pool(sizes);
  await expect.poll(async () => (await warm()).map((row) => row.id), pollOptions).not.toContain(id);
  expect(await driver.observe(id)).toEqual({ state: "absent" });
  expect(driver.machine.homes.has(home)).toBe(false);
  const held = await sql`select 1 from gpu_leases where holder_id = ${id} and released_at is null`.execute(db);
  expect(held.rows).toEqual([]);
});

test("no warm run is added while a launch is pending or the queue has entries", async () => {
  const { db, pool, stands, start, rent, pass, warm, becomes } = await setupWarmPool({ gpus: 2 });
  const first = await rent();
  await pass({ isReady: async () => false });
  const filling = pool();
  const looks = async () => {
    filling.trigger();
    await sql`select pg_sleep(0.1)`.execute(db);
    return await warm();
  };
  expect(await looks()).toEqual([]);
  start();
  await becomes(first, "active");
  await stands();
  await enterQueue(db, "ann", 2, async () => {});
  await sql`update warm_runs set state = 'ending', due_at = now()`.execute(db);
  await expect.poll(looks, pollOptions).toEqual([]);
  expect(await looks()).toEqual([]);
  await db.transaction().execute((tx) => exitQueue(tx, "ann"));
  await stands();
});

test("a warm run that fails to start is retried with back-off, and leaves nothing", async () => {
  const { pool, driver, warm, poolLeases, stands } = await setupWarmPool();
  driver.failNext("start", "no_image", 2);
  const began = performance.now();
  pool();
  await stands();
  // A second after the first, two after the second.
  expect(performance.now() - began).toBeGreaterThan(2900);
  expect(await warm()).toHaveLength(1);
  expect(await poolLeases()).toBe(1);
  expect(driver.machine.runs.size).toBe(1);
  expect(driver.machine.homes.size).toBe(1);
});

test("an unreachable host does not delay the warm runs of another", async () => {
  const { db, pool, stands, driver } = await setupWarmPool();
  const far = fakeDriver({ gpus: 1 });
  onTestFinished(() => far.close());
  await registerHost(db, "far", far, 0);
  await sql`insert into host_images (host_id, container_type, state) values ('far', 'jupyter', 'ready')`.execute(db);
  far.failNext("capabilities", "unavailable", 1000);
  const drivers = new Map([
    ["far", far],
    ["host", driver],
  ]);
  const filling = pool({ jupyter: 1 }, { drivers });
  const first = await stands();
  await sql`update warm_runs set state = 'ending', due_at = now()`.execute(db);
  filling.trigger();
  await expect.poll(() => driver.observe(first), pollOptions).toEqual({ state: "absent" });
});

test("files that cannot be deleted yet hold no GPU, and are retried with back-off", async () => {
  const { pool, stands, driver, warm, poolLeases } = await setupWarmPool({ gpus: 1 });
  const first = pool();
  const id = await stands();
  await first.stop();
  driver.failNext("deleteHome", "refused", 2);
  const began = performance.now();
  pool({});
  await expect.poll(async () => (await warm()).map(({ gpus }) => gpus), pollOptions).toEqual([[]]);
  expect(await poolLeases()).toBe(0);
  expect(await driver.observe(id)).toEqual({ state: "absent" });
  expect(driver.machine.homes.size).toBe(1);
  await expect.poll(warm, pollOptions).toEqual([]);
  // A second after the first, two after the second.
  expect(performance.now() - began).toBeGreaterThan(2900);
  expect(driver.machine.homes.size).toBe(0);
});

test("an order that never ends returns its warm run once its GPUs can be leased to others", async () => {
  const { db, pool, stands, warm, poolLeases } = await setupWarmPool({ gpus: 1 });
  const filling = pool();
  const id = await stands();
  const orderId = await addOrder(db, { userId: "ann", subdomain: "anns", gpuCount: 1, durationHours: 1 });
  const request = { orderId, userId: "ann", subdomain: "anns", gpuCount: 1, holdUntil: inMs(900_000) };
  expect(await db.transaction().execute((tx) => hold(tx, request))).toMatchObject({ ok: true });
  const lapsed = (seconds: number) =>
    sql`update gpu_leases set hold_until = now() - make_interval(secs => ${seconds}) where holder_id = ${orderId}`.execute(
      db,
    );
  await lapsed(60);
  await returnLapsedWarmRuns(db);
  expect(await warm()).toMatchObject([{ id, order_id: orderId }]);
  await lapsed(180);
  filling.trigger();
  expect(await stands()).toBe(id);
  expect(await poolLeases()).toBe(1);
});

test("a warm run outlives its server, is known to the next one, and is not an orphan", async () => {
  const { db, pool, stands, deps, driver } = await setupWarmPool();
  const first = pool();
  const id = await stands();
  await first.stop();
  const run = driver.machine.runs.get(id);
  if (run) Object.assign(run, { createdAt: new Date(Date.now() - 3_600_000) });
  const unknown = "0123456789012345678901234";
  if (run) driver.machine.runs.set(unknown, { ...run, spec: { ...run.spec, id: unknown } });
  const clock = { require: async () => {} };
  await inventoryOf({ ...deps, clock }, { id: "host", driver, signal: new AbortController().signal })();
  expect([...driver.machine.runs.keys()]).toEqual([id]);
  pool();
  await sql`update warm_runs set due_at = now()`.execute(db);
  expect(await stands()).toBe(id);
});

test("a worker that dies before or after any driver operation leaves a pool that recovers, and no leftovers", async () => {
  const { db, pool, driver, warm, poolLeases } = await setupWarmPool({ gpus: 1 });
  const settles = async (sizes: Readonly<Record<string, number>>, runs: number) => {
    // The ten seconds of the dead one's lease pass.
    await sql`update warm_runs set due_at = now(), lease_expires_at = case when lease_token is not null then now() end`.execute(
      db,
    );
    const next = pool(sizes);
    await expect
      .poll(async () => (await warm()).map(({ state }) => state), pollOptions)
      .toEqual(Array(runs).fill("ready"));
    await next.stop();
  };
  for (const verb of ["observe", "start", "pause", "remove", "deleteHome"] as const)
    for (const when of ["before", "after"] as const) {
      const ending = verb === "remove" || verb === "deleteHome";
      if (ending) await settles({ jupyter: 1 }, 1);
      const { drivers, isDead } = dying(driver, verb, when);
      const killed = pool(ending ? {} : { jupyter: 1 }, { drivers });
      await expect.poll(isDead, pollOptions).toBe(true);
      await killed.stop();
      await settles({ jupyter: 1 }, 1);
      expect(await poolLeases(), `${verb} ${when}`).toBe(1);
      expect(driver.machine.runs.size).toBe(1);
      expect(driver.machine.homes.size).toBe(1);
      await settles({}, 0);
      expect(await poolLeases(), `${verb} ${when}`).toBe(0);
      expect(driver.machine.runs.size).toBe(0);
      expect(driver.machine.homes.size).toBe(0);
    }
});
