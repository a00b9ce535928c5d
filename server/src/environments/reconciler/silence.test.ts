import { sql } from "kysely";
import { expect, test } from "vitest";
import { act, cancel } from "../api/environment-actions.ts";
import { setupEnvironments } from "../testing/setup-environments.ts";

/** An environment of six hours whose files keep JupyterLab silent from its next start on. */
async function setup() {
  const base = await setupEnvironments();
  const { db, driver, rent, reach, read, pass, want } = base;
  return {
    ...base,
    /** One that has run. */
    async ran(durationHours = 6) {
      const id = await rent({ durationHours });
      await reach(id, "active");
      driver.machine.silentHomes.add((await read(id)).home);
      return id;
    },
    async stopAndStart(id: string, action: "start" | "restart" = "start") {
      await want(id, "stopped");
      await reach(id, "stopped");
      await act(db, { id, userId: "user" }, action);
      await pass();
      expect(await read(id)).toMatchObject({ status: "pending", stage: "answering" });
    },
    /** As if ten minutes had gone by without an answer. */
    tenMinutes: (id: string) =>
      sql`with aged as (update launch_stages set at = at - interval '11 minutes' where environment_id = ${id})
        update environments set give_up_at = now(), requested_at = requested_at - interval '11 minutes',
          down_since = down_since - interval '11 minutes', first_attempt_at = first_attempt_at - interval '11 minutes',
          clock_from = clock_from - interval '10 minutes', expires_at = expires_at - interval '10 minutes'
        where id = ${id}`.execute(db),
    recorded: () =>
      db.selectFrom("notifications").select(["title", "body"]).where("cause", "like", "silent:%").execute(),
  };
}

test("G106 a container that runs while its JupyterLab is silent is stopped after ten minutes, its time banked", async () => {
  const { ran, stopAndStart, tenMinutes, reach, read, pass, driver, leases, recorded, db } = await setup();
  const id = await ran();
  await stopAndStart(id);
  await pass();
  expect((await read(id)).desired).toBe("running");
  await tenMinutes(id);
  await reach(id, "stopped");
  const row = await read(id);
  expect(row).toMatchObject({ desired: "stopped", stop_reason: "silent", ended_reason: null, expires_at: null });
  // Ten minutes ran, of which one was free.
  expect(row.banked_seconds / 60).toBeCloseTo(6 * 60 - 9, 0);
  expect([await leases(id), await driver.observe(id)]).toEqual([0, { state: "absent" }]);
  expect(await recorded()).toEqual([
    {
      title: `${row.subdomain} was stopped because JupyterLab did not answer`,
      body: expect.stringContaining("start it without your settings"),
    },
  ]);
  await act(db, { id, userId: "user" }, "start", true);
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ stop_reason: null, without_settings: true });
});

test("G106 the next start has the settings again, and an owner's stop does not leave them out", async () => {
  const { ran, stopAndStart, tenMinutes, reach, read, driver, want, db } = await setup();
  const id = await ran();
  await stopAndStart(id);
  await tenMinutes(id);
  await reach(id, "stopped");
  await act(db, { id, userId: "user" }, "stop");
  expect((await read(id)).stop_reason, "asked for again").toBe("silent");
  await act(db, { id, userId: "user" }, "start", true);
  await reach(id, "active");
  driver.machine.silentHomes.clear();
  await want(id, "stopped");
  await reach(id, "stopped");
  expect(await read(id)).toMatchObject({ stop_reason: null });
  await act(db, { id, userId: "user" }, "restart");
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ without_settings: false });
});

test("G106 a running environment whose JupyterLab stops listening is stopped too, without a refund", async () => {
  const { ran, tenMinutes, reach, read, pass, driver, deps } = await setup();
  const id = await ran();
  const unpaid: number[] = [];
  const ended = async (_: unknown, __: unknown, seconds: number) => void unpaid.push(seconds);
  await driver.silence(id);
  await pass();
  expect(await read(id)).toMatchObject({ status: "pending", fault_since: null });
  await tenMinutes(id);
  await pass({ delivery: { ...deps.delivery, ended } });
  await reach(id, "stopped");
  expect(await read(id)).toMatchObject({ stop_reason: "silent" });
  expect(unpaid).toEqual([]);
});

test("G106 a crash loop is its owner's too, however short each run is", async () => {
  const { ran, tenMinutes, reach, read, pass, driver } = await setup();
  const id = await ran();
  await driver.crash(id);
  for (let starts = 0; starts < 3; starts++) {
    await pass();
    await pass();
    await driver.crash(id);
  }
  expect((await read(id)).fault_since).toBeNull();
  await tenMinutes(id);
  await reach(id, "stopped");
  expect(await read(id)).toMatchObject({ stop_reason: "silent" });
});

test.for([
  { code: "unavailable", reason: "hardware" },
  { code: "refused", reason: "hardware" },
  { code: "no_image", reason: "hardware" },
  { code: "no_gpu", reason: "hardware" },
] as const)("G106 a start that fails with $code ends as hardware", async ({ code, reason }) => {
  const { ran, tenMinutes, reach, read, pass, driver, want, db } = await setup();
  const id = await ran();
  await want(id, "stopped");
  await reach(id, "stopped");
  driver.failNext("start", code, 1000);
  await act(db, { id, userId: "user" }, "start");
  await pass();
  expect(await read(id)).toMatchObject({ fault_since: expect.any(Date) });
  await tenMinutes(id);
  await reach(id, "terminated");
  expect(await read(id)).toMatchObject({ ended_reason: reason });
});

test("G106 when the starts of several owners fail and none is ready, the machine is the reason", async () => {
  const { ran, stopAndStart, tenMinutes, reach, read, rent, pass, driver, db } = await setup();
  const id = await ran();
  await stopAndStart(id);
  for (const userId of ["ben", "eve"]) {
    const other = await rent({ userId });
    driver.machine.silentHomes.add((await read(other)).home);
    await pass();
    await sql`update environments set first_attempt_at = now() - interval '5 minutes' where id = ${other}`.execute(db);
  }
  await tenMinutes(id);
  await reach(id, "terminated");
  expect(await read(id)).toMatchObject({ ended_reason: "hardware" });
});

test("G106 when one of the others is ready, the machine is well", async () => {
  const { ran, stopAndStart, tenMinutes, reach, read, rent, pass, driver, db } = await setup();
  const id = await ran();
  await stopAndStart(id);
  for (const userId of ["ben", "eve"]) {
    const other = await rent({ userId });
    driver.machine.silentHomes.add((await read(other)).home);
    await pass();
    await sql`update environments set first_attempt_at = now() - interval '5 minutes' where id = ${other}`.execute(db);
  }
  await reach(await rent({ userId: "joe" }), "active");
  await tenMinutes(id);
  await reach(id, "stopped");
});

test("G106 a first silent launch is refunded automatically; the next one is kept, stopped with its whole time", async () => {
  const { rent, pass, reach, read, tenMinutes, driver, recorded } = await setup();
  const ids = [await rent({ durationHours: 2 }), await rent({ durationHours: 2 })];
  for (const id of ids) driver.machine.silentHomes.add((await read(id)).home);
  await pass();
  const [first = "", second = ""] = ids;
  await tenMinutes(first);
  await reach(first, "terminated");
  expect(await read(first)).toMatchObject({ ended_reason: "silent", created_at: null });
  await tenMinutes(second);
  await reach(second, "stopped");
  expect(await read(second)).toMatchObject({ stop_reason: "silent", banked_seconds: 7200, desired: "stopped" });
  expect((await read(second)).created_at).not.toBeNull();
  expect(await recorded()).toMatchObject([{ body: expect.stringContaining("We look at its payment") }]);
});

test("G106 a first launch whose container could not run is not delivered", async () => {
  const { rent, pass, reach, read, tenMinutes, driver, recorded } = await setup();
  const id = await rent();
  driver.failNext("start", "unavailable", 1000);
  await pass();
  await tenMinutes(id);
  await reach(id, "terminated");
  expect(await read(id)).toMatchObject({ ended_reason: "not_delivered" });
  expect(await recorded()).toEqual([]);
});

test("G105 launches cancelled after their containers ran are refunded three times a day, then refused with a reason", async () => {
  const { db, rent, pass, reach, read, driver } = await setup();
  const launched = async () => {
    const id = await rent();
    driver.machine.silentHomes.add((await read(id)).home);
    await pass();
    return id;
  };
  for (let cancels = 0; cancels < 3; cancels++) {
    const id = await launched();
    await cancel(db, { id, userId: "user" });
    await reach(id, "terminated");
  }
  const fourth = await launched();
  await expect(cancel(db, { id: fourth, userId: "user" })).rejects.toThrow(
    /You have cancelled 3 launches today after their containers had started/,
  );
  expect((await read(fourth)).desired).toBe("running");
  driver.failNext("start", "unavailable", 10);
  const unstarted = await rent();
  await pass();
  await cancel(db, { id: unstarted, userId: "user" });
  await sql`update environments set requested_at = requested_at - interval '1 day' where ended_reason = 'cancelled'`.execute(
    db,
  );
  await cancel(db, { id: fourth, userId: "user" });
});
