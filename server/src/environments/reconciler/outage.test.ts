import { sql } from "kysely";
import { expect, test } from "vitest";
import { type Setup, setupEnvironments } from "../testing/setup-environments.ts";

/** Berth was away for so many minutes. */
const outage = ({ db }: Setup, minutes: number) =>
  sql`update environments set due_at = now() - make_interval(mins => ${minutes})`.execute(db);

test("G347 a run that is gone after an outage of Berth was gone all the while: that time is not its owner's", async () => {
  const setup = await setupEnvironments();
  const { db, rent, read, reach, driver } = setup;
  const id = await rent({ durationHours: 2 });
  await reach(id, "active");
  await sql`update environments set created_at = now() - interval '1 hour', expires_at = now() + interval '1 hour'`.execute(
    db,
  );
  await driver.remove(id);
  await outage(setup, 20);
  await reach(id, "pending");
  await reach(id, "active");
  const { expires_at } = await read(id);
  expect((expires_at?.getTime() ?? 0) - Date.now()).toBeGreaterThan(79 * 60_000);
});

test("G347 one whose time ran out during the outage ends with what it could not use, if its run is gone", async () => {
  const setup = await setupEnvironments();
  const { db, rent, read, reach, driver } = setup;
  const [gone, there] = [await rent({ subdomain: "gone" }), await rent({ subdomain: "there" })];
  for (const id of [gone, there]) await reach(id, "active");
  await sql`update environments set created_at = now() - interval '1 hour', expires_at = now() - interval '5 minutes'`.execute(
    db,
  );
  await driver.remove(gone);
  await outage(setup, 20);
  for (const id of [gone, there]) await reach(id, "terminated");
  const { expires_at, fault_since, ...ended } = await read(gone);
  expect([ended.ended_reason, fault_since]).toEqual(["expired", expect.any(Date)]);
  expect((expires_at?.getTime() ?? 0) - (fault_since?.getTime() ?? 0)).toBeGreaterThan(14 * 60_000);
  expect(await read(there)).toMatchObject({ ended_reason: "expired", fault_since: null });
});

test("an unreachable host: back-off, status unknown after a while, nothing destroyed, and recovery when it responds", async () => {
  const { db, rent, read, reach, pass, driver, recorded } = await setupEnvironments();
  const id = await rent();
  await reach(id, "active");
  driver.failNext("observe", "unavailable", 5);
  for (let passes = 0; passes < 4; passes++) await pass();
  expect(await read(id)).toMatchObject({ status: "active", attempts: 4 });
  await pass();
  const lost = await read(id);
  expect(lost).toMatchObject({ status: "unknown", attempts: 5 });
  expect(lost.due_at.getTime() - Date.now()).toBeGreaterThan(10_000);
  expect(recorded.failures).toHaveLength(5);
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ attempts: 0, generation: 1, last_error: null });
  expect(await db.selectFrom("sessions").selectAll().execute()).toHaveLength(1);
});
