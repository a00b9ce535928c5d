import { sql } from "kysely";
import { expect, test } from "vitest";
import { launchTimes } from "../reconciler/launch-times.ts";
import { inMs } from "../testing/setup-environments.ts";
import { pollOptions, setupWarmPool } from "../testing/setup-warm-pool.ts";

/** A cluster whose GPUs are each on a node of its own. */
async function setup(gpus = 2) {
  const base = await setupWarmPool({ gpus, pause: 0, warm: 1 });
  const { db, driver, pool, rent, pass, stands } = base;
  await sql`update gpus set node = 'node-of-' || id where kind = 'gpu'`.execute(db);
  const silent = { isReady: async () => false };
  return {
    ...base,
    gpusOf: async (holderId: string) =>
      (
        await sql<{ id: string }>`
          select gpu_id as id from gpu_leases where holder_id = ${holderId} and released_at is null`.execute(db)
      ).rows.map(({ id }) => id),
    /** A launch whose run has begun, but never answered, on a node that gives no sign any more. */
    async launchOnLostNode(kind: "warm" | "cold", subdomain = "mine") {
      if (kind === "warm") {
        const filling = pool();
        await stands();
        await filling.stop();
      }
      const id = await rent({ subdomain });
      if (kind === "cold") await pass(silent);
      driver.machine.lostRuns.set(id, { since: inMs(-60_000) });
      return id;
    },
    /** Until every run that is to be ended has ended. */
    async endRuns() {
      const ending = pool({});
      await expect.poll(base.warm, pollOptions).toEqual([]);
      await ending.stop();
    },
  };
}

test.each(["warm", "cold"] as const)(
  "G206 a %s launch on a node that gives no sign begins again on another, and its first run ends when the node is back",
  async (kind) => {
    const { db, driver, launchOnLostNode, gpusOf, reach, read, rent, pass, endRuns, shared, recorded } = await setup();
    const id = await launchOnLostNode(kind);
    const before = await read(id);
    const [formerGpu = ""] = await gpusOf(id);
    const formerRun = driver.machine.runs.get(id);
    expect(formerRun).toBeDefined();
    await reach(id, "active");
    const now = await read(id);
    expect(now).toMatchObject({ warm: false, attempts: 0, host_id: "host", secret: before.secret });
    expect(now.home).not.toBe(before.home);
    expect(await gpusOf(id)).toHaveLength(1);
    expect(await gpusOf(id)).not.toContain(formerGpu);
    expect(await db.selectFrom("homes").select(["home", "subdomain", "left_by"]).execute()).toEqual([
      { home: now.home, subdomain: "mine", left_by: null },
    ]);
    expect(recorded.delivered).toEqual([id]);
    expect(await launchTimes(db)).toMatchObject({ cold: { count: 1 }, warm: null });
    expect(recorded.lines).toContainEqual(expect.objectContaining({ event: "environment.launched_elsewhere" }));

    // The former run may go on where nobody sees it: its GPU is free, and starts nothing before it has ended.
    expect(driver.machine.runs.get(id)).toBe(formerRun);
    const next = await rent({ userId: "bob" });
    expect(await gpusOf(next)).toEqual([formerGpu]);
    await pass();
    expect(await read(next)).toMatchObject({ status: "pending", run_token: null });
    driver.machine.lostRuns.clear();
    await endRuns();
    expect(driver.machine.runs.has(id)).toBe(false);
    expect(driver.machine.homes.has(before.home)).toBe(false);
    await reach(next, "active");
    expect(shared).toEqual([]);
  },
);

test("G206 without free GPUs elsewhere a launch waits for its node, and goes on there as it was", async () => {
  const { launchOnLostNode, read, pass, reach, driver, warm } = await setup(1);
  const id = await launchOnLostNode("warm");
  const { home } = await read(id);
  await pass();
  expect(await read(id)).toMatchObject({ status: "pending", home, run_id: null, warm: true, attempts: 1 });
  expect(await warm()).toEqual([]);
  driver.machine.lostRuns.clear();
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ home, run_id: null, warm: true, generation: 1 });
});

test("G206 a launch of a name that has files waits for the node that has them", async () => {
  const { launchOnLostNode, read, pass, reach, rent, want } = await setup();
  const first = await rent({ subdomain: "mine" });
  await reach(first, "active");
  await want(first, "terminated");
  await reach(first, "terminated");
  const id = await launchOnLostNode("cold");
  const { home } = await read(id);
  expect(home).toBe((await read(first)).home);
  await pass();
  expect(await read(id)).toMatchObject({ status: "pending", home, run_id: null, attempts: 1 });
});

test("G206 a launch that its owner cancels is not begun elsewhere when its machine cannot end it", async () => {
  const { driver, rent, read, pass, reach, want, warm } = await setup();
  const id = await rent();
  await pass({ isReady: async () => false });
  await want(id, "terminated");
  driver.failNext("remove", "lost");
  await pass();
  expect(await read(id)).toMatchObject({ status: "pending", run_id: null, attempts: 1 });
  expect(await warm()).toEqual([]);
  await reach(id, "terminated");
});
