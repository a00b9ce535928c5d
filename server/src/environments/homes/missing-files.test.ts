import { sql } from "kysely";
import { expect, test } from "vitest";
import { DriverError } from "../../drivers/driver.ts";
import { act } from "../api/environment-actions.ts";
import { setupEnvironments } from "../testing/setup-environments.ts";

async function setup(durationHours = 6) {
  const base = await setupEnvironments();
  const { db, rent, reach, read, driver } = base;
  const id = await rent({ durationHours, subdomain: "mine" });
  await reach(id, "active");
  const { home } = await read(id);
  return {
    ...base,
    id,
    lose: () => driver.machine.missingHomes.add(home),
    find: () => driver.machine.missingHomes.delete(home),
    home: () => db.selectFrom("homes").selectAll().executeTakeFirstOrThrow(),
    restarts: () =>
      db.selectFrom("notifications").select(["title", "body"]).where("cause", "like", "restarted:%").execute(),
    notices: async () =>
      (await db.selectFrom("notifications").select(["title", "cause"]).execute()).filter(({ cause }) =>
        cause.startsWith("no-home:"),
      ),
  };
}

test("G111 missing files: nothing starts in their place, the clock stands, owner and operator are notified, and it goes on later", async () => {
  const { id, db, want, reach, read, pass, lose, find, home, notices, recorded, leases } = await setup();
  await want(id, "stopped");
  await reach(id, "stopped");
  const { banked_seconds } = await read(id);
  lose();
  await act(db, { id, userId: "user" }, "start");
  for (const _ of ["once", "again"]) {
    await pass();
    await pass();
    expect(await read(id)).toMatchObject({ stop_reason: "no_home", banked_seconds, expires_at: null });
    expect([await leases(id), (await home()).missing_since]).toEqual([0, expect.any(Date)]);
    await act(db, { id, userId: "user" }, "start");
  }
  await pass();
  await pass();
  expect(await notices()).toMatchObject([{ title: "The files of mine are not there" }]);
  const alarms = recorded.lines.filter(({ event }) => event === "home.missing");
  expect(alarms).toMatchObject([{ level: "fatal", environmentId: id }]);
  find();
  await act(db, { id, userId: "user" }, "start");
  await reach(id, "active");
  expect((await home()).missing_since).toBeNull();
  expect((await read(id)).stop_reason).toBeNull();
});

test("G111 an environment that loses its run and its files is stopped with its time banked; a monthly plan keeps its GPUs", async () => {
  const { id, pass, reach, read, lose, find, driver, leases, db, restarts } = await setup(720);
  lose();
  await driver.crash(id, { code: 137, outOfMemory: false, evicted: { cause: "machine", message: "gone" } });
  await pass();
  await reach(id, "stopped");
  const row = await read(id);
  expect(row).toMatchObject({ stop_reason: "no_home", expires_at: null });
  expect(await restarts()).toEqual([
    {
      title: "mine is started again",
      body: "Its machine had ended it. The time that this took is added at its end. What was in memory is lost.",
    },
  ]);
  expect(row.banked_seconds).toBeGreaterThan(720 * 3600 - 60);
  expect(await leases(id)).toBe(1);
  find();
  await act(db, { id, userId: "user" }, "start");
  await reach(id, "active");
  expect((await read(id)).expires_at).not.toBeNull();
});

test("G111 a new launch of a name whose files are gone is not delivered, instead of beginning empty", async () => {
  const { id, want, reach, read, rent, pass, lose, db, home, recorded } = await setup();
  await want(id, "terminated");
  await reach(id, "terminated");
  lose();
  const next = await rent({ subdomain: "mine" });
  await pass();
  expect(await read(next)).toMatchObject({ status: "pending", desired: "running", fault_since: expect.any(Date) });
  expect((await home()).missing_since).not.toBeNull();
  await sql`update environments set give_up_at = now() where id = ${next}`.execute(db);
  await reach(next, "terminated");
  expect(await read(next)).toMatchObject({ ended_reason: "not_delivered" });
  expect(recorded.undelivered).toEqual([`${next}:not_delivered`]);
});

test("G111 a container on other files is neither used nor ended: its status is unknown and its clock stands", async () => {
  const { id, pass, read, reach, driver, home, db } = await setup();
  const foreign = {
    ...driver,
    observe: async () => {
      throw new DriverError("no_home", "env-1 runs on the files in /old, not in this DATA_DIR");
    },
  };
  const drivers = new Map([["host", foreign]]);
  for (let passes = 0; passes < 6; passes++) await pass({ drivers });
  expect(await read(id)).toMatchObject({ status: "unknown", desired: "running", fault_since: expect.any(Date) });
  expect((await home()).missing_since).not.toBeNull();
  expect(driver.calls.get("stop")).toBeUndefined();
  expect((await driver.observe(id)).state).toBe("running");
  await sql`update environments set fault_since = now() - interval '1 hour'`.execute(db);
  const before = (await read(id)).expires_at?.getTime() ?? 0;
  await reach(id, "active");
  expect(((await read(id)).expires_at?.getTime() ?? 0) - before).toBeGreaterThan(3_590_000);
});
