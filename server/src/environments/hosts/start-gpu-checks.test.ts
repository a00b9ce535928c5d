import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import type { Loop } from "../../async/start-interval.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { setupEnvironments } from "../testing/setup-environments.ts";
import { startGpuChecks } from "./start-gpu-checks.ts";

/** An active environment with one GPU of a machine that has two, and the watch over it, which looks when it is told. */
async function setup({ durationHours = 6, options = { gpus: 2 } as Record<string, number> } = {}) {
  const environments = await setupEnvironments({ options });
  const { db, driver, deps, rent, reach } = environments;
  const id = await rent({ durationHours });
  await reach(id, "active");
  const { log, errors: failures } = recordLog();
  const looks = () => driver.calls.get("gpuFault") ?? 0;
  let loop: Loop | undefined;
  onTestFinished(() => loop?.stop());
  return {
    ...environments,
    id,
    looks,
    failures,
    async look(times = 1) {
      for (let time = 0; time < times; time++) {
        const before = looks();
        if (loop) loop.trigger();
        else loop = startGpuChecks({ ...deps, log });
        await expect.poll(looks, { interval: 1 }).toBe(before + 1);
      }
    },
    fail: (words = "nvidia-smi ended with 255") => driver.machine.gpuFaults.set(id, words),
    mend: () => driver.machine.gpuFaults.delete(id),
    statusOf: async () => (await environments.read(id)).status,
    notices: () => db.selectFrom("notifications").select(["title", "cause"]).where("cause", "like", "gpu:%").execute(),
    quarantined: async () =>
      (await db.selectFrom("gpus").select("quarantine_reason").where("quarantined_at", "is not", null).execute()).map(
        (row) => row.quarantine_reason,
      ),
  };
}

test("GPUs that fail three checks: a new run with the files, one notice, and the time is credited", async () => {
  const { db, driver, id, fail, mend, look, read, reach, statusOf, notices, failures } = await setup();
  driver.machine.homes.get((await read(id)).home)?.set("kept.txt", "still here");
  const { run_token: first, expires_at: end } = await read(id);
  fail();
  await look(2);
  expect(await read(id)).toMatchObject({ status: "active", generation: 1, run_token: first });
  await look();
  await expect.poll(statusOf).toBe("pending");
  expect(await read(id)).toMatchObject({ run_token: null, endpoint: null, faulty_generation: 1, stage: "placed" });
  expect(await notices()).toMatchObject([{ cause: `gpu:${id}:1`, title: expect.stringMatching(/ was started anew$/) }]);
  await expect
    .poll(() => failures)
    .toEqual([expect.stringMatching(/do not respond: nvidia-smi ended with 255. It gets/)]);

  // As if it had taken a minute to come up.
  await sql`update environments set fault_since = fault_since - interval '1 minute' where id = ${id}`.execute(db);
  mend();
  await reach(id, "active");
  const again = await read(id);
  expect(again).toMatchObject({ generation: 2, faulty_generation: 1, down_since: null, fault_since: null });
  expect(again.run_token).not.toBe(first);
  expect(driver.machine.runs.get(id)?.spec).toMatchObject({ generation: 2, home: again.home });
  expect(driver.machine.homes.get(again.home)?.get("kept.txt")).toBe("still here");
  const givenMs = (again.expires_at?.getTime() ?? 0) - (end?.getTime() ?? 0);
  expect(givenMs).toBeGreaterThan(60_000);
  expect(givenMs).toBeLessThan(75_000);
  expect(await db.selectFrom("sessions").select("closed_at").execute()).toEqual([{ closed_at: null }]);
  await look();
  await expect.poll(async () => (await read(id)).faulty_generation).toBeNull();
});

test("the new run's GPUs fail too: they are quarantined, and the rest of the rental is refunded", async () => {
  const { db, deps, id, fail, look, read, reach, pass, statusOf, quarantined, leases } = await setup();
  fail();
  await look(3);
  await expect.poll(statusOf).toBe("pending");
  await reach(id, "active");
  fail("nvidia-smi no longer finds it");
  await look(2);
  expect(await quarantined()).toEqual([]);
  await look();
  await expect.poll(async () => (await read(id)).desired).toBe("terminated");
  // As if it had not answered for ten minutes.
  await sql`update environments set fault_since = fault_since - interval '10 minutes' where id = ${id}`.execute(db);
  const { expires_at: end, fault_since: since } = await read(id);
  const unpaid: number[] = [];
  const ended = async (_: unknown, __: unknown, seconds: number) => void unpaid.push(seconds);
  await pass({ delivery: { ...deps.delivery, ended } });
  expect(await read(id)).toMatchObject({ status: "terminated", ended_reason: "hardware" });
  expect(unpaid).toEqual([((end?.getTime() ?? 0) - (since?.getTime() ?? 0)) / 1000]);
  expect(unpaid[0]).toBeGreaterThan(6 * 3600 - 10);
  expect(await quarantined()).toEqual(["nvidia-smi no longer finds it"]);
  expect(await leases(id)).toBe(0);
});

test("two failed checks are chance, an inconclusive one does not count, and a new run starts the count again", async () => {
  const { driver, id, fail, mend, look, read, reach, want, failures, notices } = await setup();
  fail();
  await look(2);
  mend();
  await look();
  fail();
  await look(2);
  driver.failNext("gpuFault", "unavailable");
  await look();
  await expect.poll(() => failures).toHaveLength(1);
  expect(failures.map(String)).toEqual([expect.stringContaining("an injected failure of gpuFault")]);
  await want(id, "paused");
  await reach(id, "paused");
  await want(id, "running");
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ status: "active", generation: 1 });
  await driver.crash(id);
  await reach(id, "pending");
  await reach(id, "active");
  await look(2);
  expect(await read(id)).toMatchObject({ status: "active", generation: 2, faulty_generation: null });
  expect(await notices()).toEqual([]);
});

test("an owner who stops it meanwhile is credited the time of the repair, and it stays stopped", async () => {
  const { db, id, fail, look, read, reach, want, statusOf } = await setup();
  fail();
  await look(3);
  await expect.poll(statusOf).toBe("pending");
  await sql`update environments set fault_since = fault_since - interval '5 minutes',
    expires_at = now() + interval '1 hour' where id = ${id}`.execute(db);
  await want(id, "stopped");
  await reach(id, "stopped");
  expect((await read(id)).banked_seconds).toBeGreaterThan(3890);
  expect((await read(id)).banked_seconds).toBeLessThan(3905);
});

test.for([
  [6, null],
  [720, 1],
])(
  "%i hours, stopped before the new run was checked: the suspected fault stays with the GPUs",
  async ([hours, left]) => {
    const { id, fail, look, read, reach, want, statusOf } = await setup({ durationHours: hours as number });
    fail();
    await look(3);
    await expect.poll(statusOf).toBe("pending");
    await want(id, "stopped");
    await reach(id, "stopped");
    expect((await read(id)).faulty_generation).toBe(left);
  },
);

test("an environment that its owner stopped after the check is left alone", async () => {
  const { driver, id, fail, look, read, want, deps, notices } = await setup();
  fail();
  await look(2);
  const answers = driver.hang("gpuFault");
  const third = look();
  await third;
  await want(id, "stopped");
  answers();
  const stopping = startGpuChecks({ ...deps, log: silentLogger });
  await stopping.stop();
  expect(await read(id)).toMatchObject({ desired: "stopped", status: "active", generation: 1 });
  expect(await notices()).toEqual([]);
});

test("CPU slots are not checked", async () => {
  const { deps, looks } = await setup({ options: {} });
  const loop = startGpuChecks({ ...deps, log: silentLogger });
  await loop.stop();
  expect(looks()).toBe(0);
});
