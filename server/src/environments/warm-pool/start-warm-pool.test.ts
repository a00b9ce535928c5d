import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { Driver } from "../../drivers/driver.ts";
import { fakeDriver } from "../../drivers/fake/fake-driver.ts";
import { hold } from "../allocation/hold.ts";
import { registerHost } from "../hosts/register-host.ts";
import { enterQueue, exitQueue } from "../queue/join-queue.ts";
import { launchTimes } from "../reconciler/launch-times.ts";
import { inventoryOf } from "../reconciler/reconcile-inventory.ts";
import { addOrder, inMs, setupEnvironments } from "../testing/setup-environments.ts";
import { startWarmPool } from "./start-warm-pool.ts";
import { returnLapsedWarmRuns } from "./warm-runs.ts";

const pollOptions = { timeout: 15_000, interval: 20 };

/** A host whose jupyter image is there, with GPUs, and one run that is to stand ready. */
async function setup({ gpus = 2, ...options }: { gpus?: number; stopMs?: number; startMs?: number } = {}) {
  const environments = await setupEnvironments({ options: { gpus, ...options } });
  const { db, driver, parts } = environments;
  await sql`insert into host_images (host_id, container_type, state) values ('host', 'jupyter', 'ready')`.execute(db);
  const shared: string[] = [];
  driver.machine.changed.on("changed", () => {
    const used = [...driver.machine.runs.values()].flatMap(({ spec }) => spec.gpus);
    if (new Set(used).size < used.length) shared.push(used.join(" "));
  });
  const warm = () => db.selectFrom("warm_runs").selectAll().orderBy("created_at").execute();
  return {
    ...environments,
    /** GPUs that were seen in two runs at once. */
    shared,
    warm,
    pool(sizes: Readonly<Record<string, number>> = { jupyter: 1 }, changed: Partial<typeof parts> = {}) {
      const pool = startWarmPool({ ...parts, ...changed, sizes });
      onTestFinished(() => pool.stop());
      return pool;
    },
    async stands() {
      const ready = async () => (await warm()).find(({ state, order_id }) => state === "ready" && order_id === null);
      await expect.poll(ready, pollOptions).toBeDefined();
      return (await ready())?.id ?? "";
    },
    becomes: (id: string, status: string) =>
      expect.poll(async () => (await environments.read(id)).status, pollOptions).toBe(status),
    poolLeases: async () =>
      (await sql`select 1 from gpu_leases where holder_kind = 'pool' and released_at is null`.execute(db)).rows.length,
  };
}

test("a paid order wakes the run that stood ready, and another takes its place afterwards", async () => {
  const { db, pool, stands, start, rent, read, becomes, driver, warm, shared } = await setup();
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
  ["has died", async (driver: Driver & { crash(id: string): Promise<void> }, id: string) => driver.crash(id)],
  ["is gone", async (driver: Driver, id: string) => driver.remove(id)],
])("what stood ready %s: the launch is like any other, on the same GPUs", async (_, end) => {
  const { db, pool, stands, start, rent, read, becomes, driver, leases } = await setup();
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

test("what does not answer within a second of its waking makes way for a new run", async () => {
  const { pool, stands, start, rent, read, becomes, parts } = await setup();
  pool();
  await stands();
  const id = await rent();
  const { run_token: first } = await read(id);
  const answers: typeof parts.isReady = async (endpoint, token) =>
    token === first ? await new Promise<boolean>(() => {}) : await parts.isReady(endpoint, token);
  start({ isReady: answers });
  const began = performance.now();
  await becomes(id, "active");
  expect(performance.now() - began).toBeGreaterThan(1000);
  expect(await read(id)).toMatchObject({ generation: 2, warm: false });
});

test("a launch on the GPU of what stands ready waits until that is gone", async () => {
  const { db, pool, stands, start, rent, becomes, driver, warm, shared, poolLeases } = await setup({
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
  ["a GPU put aside", "update gpus set quarantined_at = now()", { jupyter: 1 }],
])("%s ends what stands ready, and its home", async (_, change, sizes) => {
  const { db, pool, stands, driver, warm } = await setup({ gpus: 1 });
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

test("nothing is made ready while a launch is under way or somebody waits", async () => {
  const { db, pool, stands, start, rent, pass, warm, becomes } = await setup({ gpus: 2 });
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

test("a run that cannot be made is tried ever more rarely, and leaves nothing", async () => {
  const { pool, driver, warm, poolLeases, stands } = await setup();
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

test("a host that cannot be asked keeps no other from its runs", async () => {
  const { db, pool, stands, driver } = await setup();
  const far = fakeDriver({ gpus: 1 });
  onTestFinished(() => far.close());
  await registerHost(db, "far", far, 0);
  await sql`insert into host_images (host_id, container_type, state) values ('far', 'jupyter', 'ready')`.execute(db);
  far.failNext("capabilities", "unavailable", 1000);
  const drivers = new Map([
    ["far", far],
    ["host", driver],
  ]);
  pool({ jupyter: 1 }, { drivers });
  const first = await stands();
  await sql`update warm_runs set state = 'ending', due_at = now()`.execute(db);
  await expect.poll(() => driver.observe(first), pollOptions).toEqual({ state: "absent" });
});

test("files that cannot be deleted yet keep no GPU, and are tried ever more rarely", async () => {
  const { pool, stands, driver, warm, poolLeases } = await setup({ gpus: 1 });
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

test("an order that never ends gives its run back when anybody could have its GPUs", async () => {
  const { db, pool, stands, warm, poolLeases } = await setup({ gpus: 1 });
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

test("what stands ready outlives its server, is known to the next one, and is no stranger to it", async () => {
  const { db, pool, stands, parts, driver } = await setup();
  const first = pool();
  const id = await stands();
  await first.stop();
  const run = driver.machine.runs.get(id);
  if (run) Object.assign(run, { createdAt: new Date(Date.now() - 3_600_000) });
  const unknown = "0123456789012345678901234";
  if (run) driver.machine.runs.set(unknown, { ...run, spec: { ...run.spec, id: unknown } });
  const clock = { require: async () => {} };
  await inventoryOf({ ...parts, clock }, { id: "host", driver, signal: new AbortController().signal })();
  expect([...driver.machine.runs.keys()]).toEqual([id]);
  pool();
  await sql`update warm_runs set due_at = now()`.execute(db);
  expect(await stands()).toBe(id);
});

test("a worker that dies before or after any verb leaves a pool that comes right, and nothing besides", async () => {
  const { db, pool, driver, warm, poolLeases } = await setup({ gpus: 1 });
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

/** A driver whose process ends at the first call of a verb: nothing gets through it from then on. */
function dying(driver: Driver, verb: keyof Driver, when: "before" | "after") {
  let dead = false;
  const proxy = new Proxy(driver, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function" || name === "capabilities") return value;
      return async (...args: unknown[]) => {
        dead ||= name === verb && when === "before";
        if (dead) throw new Error("killed");
        const answer = await Reflect.apply(value, target, args);
        dead ||= name === verb;
        if (dead) throw new Error("killed");
        return answer;
      };
    },
  });
  return { drivers: new Map([["host", proxy]]), isDead: () => dead };
}
