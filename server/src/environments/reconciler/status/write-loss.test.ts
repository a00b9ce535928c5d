import { sql } from "kysely";
import { expect, test, vi } from "vitest";
import { terminate } from "../../api/environment-actions.ts";
import { inMs, setupEnvironments } from "../../testing/setup-environments.ts";

/** An active environment of six hours on a node of a cluster, which then gives no sign for an hour. */
async function setup() {
  const base = await setupEnvironments();
  const { db, driver, rent, reach, read } = base;
  const id = await rent({ durationHours: 6 });
  await reach(id, "active");
  await sql`
    update environments set created_at = created_at - interval '2 hours', expires_at = expires_at - interval '2 hours'
    where id = ${id}`.execute(db);
  const run = driver.machine.runs.get(id);
  const lose = (off?: "off") =>
    driver.machine.lostRuns.set(id, { since: inMs(-3_600_000), ...(off && { isOff: true as const }) });
  const notices = async () =>
    (
      await db
        .selectFrom("notifications")
        .select("title")
        .where("cause", "not like", "ready:%")
        .orderBy("created_at")
        .execute()
    ).map(({ title }) => title);
  /** Hours that are left from now on. */
  const hoursLeft = async () => (((await read(id)).expires_at?.getTime() ?? 0) - Date.now()) / 3_600_000;
  return { ...base, id, run, lose, notices, hoursLeft, name: (await read(id)).subdomain };
}

test("G181 a lost machine: the owner is told once, nothing is ended, and the gap is given back when it is back", async () => {
  const { db, driver, id, run, lose, notices, hoursLeft, name, pass, read, reach } = await setup();
  lose();
  await pass();
  expect(await read(id)).toMatchObject({ status: "unknown", desired: "running", attempts: 0, generation: 1 });
  expect(Date.now() - ((await read(id)).fault_since?.getTime() ?? 0)).toBeGreaterThan(3_590_000);
  await pass();
  expect(await notices()).toEqual([`The machine of ${name} has failed`]);

  // Its paid time would be over, but it stands still.
  await sql`update environments set expires_at = now() - interval '1 minute' where id = ${id}`.execute(db);
  await pass();
  expect(await read(id)).toMatchObject({ status: "unknown", desired: "running", ended_reason: null });

  await sql`update environments set expires_at = now() + interval '4 hours' where id = ${id}`.execute(db);
  driver.machine.lostRuns.clear();
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ generation: 1, lost_since: null, fault_since: null, down_since: null });
  expect(driver.machine.runs.get(id)).toBe(run);
  expect(await hoursLeft()).toBeCloseTo(5, 1);
  expect(await notices()).toEqual([`The machine of ${name} has failed`, `${name} runs again`]);
});

test("G181 a machine that is off: the run starts elsewhere with the time left, and the gap is not counted", async () => {
  const { driver, id, run, lose, notices, hoursLeft, name, pass, read, reach } = await setup();
  lose("off");
  await pass();
  expect(await read(id)).toMatchObject({ status: "unknown" });
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ generation: 2, lost_since: null, fault_since: null });
  expect(driver.machine.runs.get(id)).not.toBe(run);
  expect(await hoursLeft()).toBeCloseTo(5, 1);
  expect(await notices()).toEqual([`The machine of ${name} has failed`, `${name} runs again`]);
});

test("G181 its owner may end it at once, and what was left when the machine failed is paid back", async () => {
  const { deps, db, driver, id, lose, name, pass, read, leases } = await setup();
  const ended = vi.fn(async () => {});
  lose();
  const changed = { delivery: { ...deps.delivery, ended } };
  await pass(changed);
  await terminate(db, { id, userId: "user" }, name);
  await pass(changed);
  expect(await read(id)).toMatchObject({ status: "terminated", ended_reason: "hardware" });
  expect(await leases(id)).toBe(0);
  const [[, , unpaidSeconds] = []] = ended.mock.calls as unknown as [unknown, unknown, number][];
  expect((unpaidSeconds ?? 0) / 3600).toBeCloseTo(5, 1);
  // Its record is removed when the machine is back.
  expect(driver.machine.runs.has(id)).toBe(true);
});

test("a launch on a lost machine is not kept waiting: its deadline refunds it", async () => {
  const { db, driver, rent, pass, read, recorded } = await setupEnvironments({ options: { startMs: 60_000 } });
  const id = await rent();
  await pass();
  driver.machine.lostRuns.set(id, { since: new Date() });
  await pass();
  expect(await read(id)).toMatchObject({ status: "pending", lost_since: null });
  await sql`update environments set give_up_at = now() where id = ${id}`.execute(db);
  await pass();
  expect(await read(id)).toMatchObject({ status: "terminated" });
  expect(recorded.undelivered).toEqual([`${id}:not_delivered`]);
});
