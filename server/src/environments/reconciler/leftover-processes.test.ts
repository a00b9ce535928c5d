import { sql } from "kysely";
import { expect, test } from "vitest";
import { hold } from "../allocation/hold.ts";
import { inMs, setupEnvironments } from "../testing/setup-environments.ts";

/** An active environment with the first of a machine's two GPUs. */
async function setup({ durationHours = 6, options = { gpus: 2 } as Record<string, number> } = {}) {
  const environments = await setupEnvironments({ options });
  const { db, driver, rent, reach } = environments;
  const id = await rent({ durationHours });
  await reach(id, "active");
  const [gpu = ""] = driver.machine.runs.get(id)?.spec.gpus ?? [];
  return {
    ...environments,
    id,
    gpu,
    asked: () => driver.calls.get("gpuLeftovers") ?? 0,
    aside: () =>
      db
        .selectFrom("gpus")
        .select(["id", "quarantine_reason as reason"])
        .where("quarantined_at", "is not", null)
        .execute(),
    /** How many GPUs an order is given now. */
    async free() {
      const order = { orderId: "order", userId: "bob", subdomain: "of-bob", holdUntil: inMs(60_000) };
      let most = 0;
      for (const gpuCount of [1, 2]) {
        const tried = db.transaction().execute(async (tx) => {
          const { ok } = await hold(tx, { ...order, gpuCount });
          throw new Error(String(ok));
        });
        if ((await tried.catch((error) => error.message)) === "true") most = gpuCount;
      }
      return most;
    },
  };
}

test.for(["stopped", "terminated"] as const)(
  "%s: a GPU with leftover processes is quarantined, not leased",
  async (end) => {
    const { driver, id, gpu, deps, pass, want, read, aside, leases, free, recorded } = await setup();
    driver.machine.gpuLeftovers.set(gpu, "process 4711 still uses it").set("another", "process 1");
    await want(id, end);
    await pass({ leftoverMs: 0 });
    expect((await read(id)).status).toBe(end);
    expect(await aside()).toEqual([{ id: gpu, reason: "process 4711 still uses it" }]);
    expect([await leases(id), await free()]).toEqual([0, 1]);
    const alarms = recorded.lines.filter(({ level }) => level === "fatal");
    expect(alarms).toMatchObject([{ event: "gpu.quarantined", gpuId: gpu, environmentId: id }]);
    expect(deps.drivers.size).toBe(1);
  },
);

test("the GPU stays with its old holder until the check ends; memory that is freed in time does not count", async () => {
  const { driver, id, gpu, want, read, aside, leases, free, start, asked } = await setup();
  driver.machine.gpuLeftovers.set(gpu, "900 MB of its memory are still in use");
  await want(id, "terminated");
  start({ leftoverMs: 60_000 });
  await expect.poll(asked).toBeGreaterThan(0);
  expect([(await read(id)).status, await leases(id), await free()]).toEqual(["active", 1, 1]);
  driver.machine.gpuLeftovers.clear();
  await expect.poll(async () => (await read(id)).status).toBe("terminated");
  expect([await aside(), await leases(id), await free()]).toEqual([[], 0, 2]);
});

test("the time of the check is not its owner's, and an overtaken result is not logged", async () => {
  const { db, driver, id, gpu, pass, want, read, asked, aside, recorded } = await setup();
  const secondsLeft = async () =>
    (
      await sql<{
        left: number;
      }>`select extract(epoch from expires_at - now())::float8 as left from environments`.execute(db)
    ).rows[0]?.left ?? 0;
  const look = async () => {
    const before = asked();
    const go = driver.hang("gpuLeftovers");
    await want(id, "stopped");
    const done = pass({ leftoverMs: 0 });
    await expect.poll(asked).toBe(before + 1);
    return { go, done };
  };
  driver.machine.gpuLeftovers.set(gpu, "process 4711 still uses it");
  const overtaken = await look();
  await db.updateTable("environments").set({ desired: "paused" }).execute();
  overtaken.go();
  await overtaken.done;
  expect([(await read(id)).status, await aside(), recorded.failures]).toEqual(["active", [], []]);

  driver.machine.gpuLeftovers.clear();
  const stopping = await look();
  const left = await secondsLeft();
  await expect.poll(secondsLeft, { timeout: 5000 }).toBeLessThan(left - 2);
  stopping.go();
  await stopping.done;
  const { status, banked_seconds: banked } = await read(id);
  expect(status).toBe("stopped");
  expect(banked).toBeGreaterThanOrEqual(Math.floor(left));
});

test("a GPU that cannot be checked is quarantined", async () => {
  const { driver, id, gpu, pass, want, aside } = await setup();
  driver.failNext("gpuLeftovers", "unavailable");
  await want(id, "stopped");
  await pass({ leftoverMs: 0 });
  expect(await aside()).toEqual([{ id: gpu, reason: expect.stringContaining("an injected failure of gpuLeftovers") }]);
});

test.for([
  ["slots", { options: {} }, "terminated", 0],
  ["GPUs that stay with their owner", { durationHours: 720 }, "stopped", 0],
  ["GPUs that were released before", {}, "stopped", 1],
] as const)("%s: checked only as often as needed", async ([, rental, end, times]) => {
  const { id, want, reach, pass, asked } = await setup(rental);
  await want(id, end);
  await reach(id, end);
  expect(asked()).toBe(times);
  await pass();
  expect(asked()).toBe(times);
});
