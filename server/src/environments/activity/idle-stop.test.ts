import { environmentDetail, setIdleStop as setIdleStopCall } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { silentLogger } from "../../logging/create-logger.ts";
import { testApp } from "../../testing/test-app.ts";
import { act } from "../api/environment-actions.ts";
import { setupEnvironments, writeOnly } from "../testing/setup-environments.ts";
import { isWorking, recordUse, writeActivity } from "./activity.ts";
import { keepIdleStop, setIdleStop, snoozeIdleStop } from "./idle-stop.ts";
import { maxIdleSeconds } from "./jupyter-idle-seconds.ts";
import { startSampling } from "./start-sampling.ts";

/** An active environment that stops after an hour without work. */
async function setup({ durationHours = 6, minutes = 60 as const } = {}) {
  const world = await setupEnvironments();
  const { db, rent, reach } = world;
  const id = await rent({ durationHours, subdomain: "my-lab" });
  await reach(id, "active");
  const owned = { id, userId: "user" };
  if (minutes) await setIdleStop(db, owned, minutes);
  await db.deleteFrom("notifications").execute();
  const seconds = async (column: string) => {
    const at = sql<number | null>`extract(epoch from ${sql.ref(column)} - now())::float8`.as("at");
    const row = db.selectFrom("environments").innerJoin("activity", "environment_id", "id").where("id", "=", id);
    return (await row.select(at).executeTakeFirst())?.at ?? null;
  };
  return {
    ...world,
    id,
    owned,
    /** Lets so many minutes go by without work, all of them looked at. */
    idle: (minutes: number) =>
      sql`
        with told as (update environments set idle_stop_at = idle_stop_at - make_interval(mins => ${minutes}),
          idle_snoozed_until = idle_snoozed_until - make_interval(mins => ${minutes}))
        update activity set last_busy_at = last_busy_at - make_interval(mins => ${minutes})`.execute(db),
    keep: () => keepIdleStop(db, writeOnly, id),
    /** Minutes from now, by the database's clock. */
    at: async (column: "idle_stop_at" | "idle_snoozed_until" | "last_busy_at") => {
      const left = await seconds(column);
      return left === null ? null : Math.round(left / 60) + 0;
    },
    recorded: async () =>
      (await db.selectFrom("notifications").select("title").orderBy("created_at").execute()).map(({ title }) => title),
  };
}

const warned = "my-lab is idle and stops in 10 minutes";
const stopped = "my-lab was stopped because it was idle";

test("the idle stop is off by default: an environment runs for its paid time, idle or not", async () => {
  const { idle, pass, keep, read, id, recorded } = await setup({ minutes: 0 as never });
  await idle(300);
  await pass();
  await keep();
  expect(await read(id)).toMatchObject({
    status: "active",
    desired: "running",
    idle_minutes: null,
    idle_stop_at: null,
  });
  expect(await recorded()).toEqual([]);
});

test("the owner is notified once, ten minutes before; then the environment stops with its time banked and a reason", async () => {
  const { db, idle, pass, reach, read, leases, at, recorded, id } = await setup();
  await idle(49);
  await pass();
  expect([await recorded(), await at("idle_stop_at")]).toEqual([[], null]);
  await idle(2);
  await pass();
  await pass();
  expect([await recorded(), await at("idle_stop_at")]).toEqual([[warned], 10]);
  await idle(9);
  await pass();
  expect(await read(id)).toMatchObject({ desired: "running", status: "active" });
  await idle(2);
  await reach(id, "stopped");
  await pass();
  const row = await read(id);
  expect(row).toMatchObject({ desired: "stopped", idle_minutes: 60, idle_stop_at: null, expires_at: null });
  expect(row.banked_seconds).toBeGreaterThan(6 * 3600 - 60);
  expect(await leases(id)).toBe(0);
  expect(await recorded()).toEqual([warned, stopped]);
  const sessions = await db.selectFrom("sessions").select("reason").execute();
  expect(sessions).toEqual([{ reason: "idle" }]);

  // The next run begins anew, and what its owner stops is not called idle.
  await act(db, { id, userId: "user" }, "restart");
  await reach(id, "active");
  expect(await at("last_busy_at")).toBe(0);
  await pass();
  await act(db, { id, userId: "user" }, "stop");
  await reach(id, "stopped");
  expect(await recorded()).toEqual([warned, stopped]);
  expect((await db.selectFrom("sessions").orderBy("opened_at").select("reason").execute()).at(-1)).toEqual({
    reason: "stopped",
  });
});

test("G2: a monthly plan keeps its GPUs and its clock, and the notice says so", async () => {
  const { db, idle, pass, reach, read, leases, id } = await setup({ durationHours: 720 });
  await idle(51);
  await pass();
  await idle(11);
  await reach(id, "stopped");
  expect((await read(id)).expires_at).not.toBeNull();
  expect(await leases(id)).toBe(1);
  const { body } = await db
    .selectFrom("notifications")
    .where("title", "=", stopped)
    .select("body")
    .executeTakeFirstOrThrow();
  expect(body).toBe(
    "Its files are kept, what was in memory is gone. Its GPUs stay yours, and the clock of a monthly plan runs on.",
  );
});

test("setting the idle stop counts as activity, also with the same value", async () => {
  const { db, owned, idle, pass, at } = await setup();
  await idle(51);
  await pass();
  await setIdleStop(db, owned, 60);
  expect([await at("idle_stop_at"), await at("last_busy_at")]).toEqual([null, 0]);
});

test("activity after the notice cancels the stop, and the next notice comes after the next idle hour", async () => {
  const { db, idle, pass, read, at, recorded, id } = await setup();
  await idle(51);
  await pass();
  await idle(9);
  await recordUse(db, [id]);
  await idle(3);
  await pass();
  expect(await read(id)).toMatchObject({ desired: "running", idle_stop_at: null });
  await idle(46);
  await pass();
  expect(await recorded()).toEqual([warned]);
  await idle(2);
  await pass();
  expect([await recorded(), await at("idle_stop_at")]).toEqual([[warned, warned], 10]);
});

test("a snoozed stop comes an hour later, however often it is snoozed; without a notice there is nothing to snooze", async () => {
  const { db, owned, idle, pass, at, recorded, id, reach } = await setup();
  await expect(snoozeIdleStop(db, owned)).rejects.toThrow("my-lab is not about to stop for being idle");
  await idle(51);
  await pass();
  await idle(4);
  const { stops_at, snoozed_until } = await snoozeIdleStop(db, owned);
  expect(stops_at).toBeNull();
  expect(await at("idle_snoozed_until")).toBe(66);
  expect(await snoozeIdleStop(db, owned)).toMatchObject({ snoozed_until });
  await idle(55);
  await pass();
  expect(await recorded()).toEqual([warned]);
  await idle(2);
  await pass();
  expect([await recorded(), await at("idle_stop_at")]).toEqual([[warned, warned], 10]);
  await expect(snoozeIdleStop(db, { ...owned, userId: "somebody" })).rejects.toThrow("There is nothing here");
  await idle(11);
  await reach(id, "stopped");
  await expect(snoozeIdleStop(db, owned)).rejects.toThrow("not about to stop");
});

test("nothing stops without recent measurements, and a gap between two measurements counts as work", async () => {
  const { db, idle, pass, read, at, recorded, id } = await setup();
  const unseen = (seconds: number) =>
    sql`update activity set looked_at = now() - make_interval(secs => ${seconds})`.execute(db);
  await idle(61);
  await unseen(130);
  await pass();
  expect(await recorded(), "the sampler is behind").toEqual([]);
  await unseen(100);
  await pass();
  expect(await recorded()).toEqual([warned]);
  await idle(12);
  await unseen(130);
  await pass();
  expect(await read(id)).toMatchObject({ desired: "running" });
  await writeActivity(db, [{ environmentId: id, idleSeconds: 7200 }]);
  expect(await at("last_busy_at"), "what was done in the gap is not known").toBe(0);
  await pass();
  expect(await read(id)).toMatchObject({ desired: "running", idle_stop_at: null });
});

test("the last activity is the newest one measured, and a measurement that knows less does not change it", async () => {
  const { db, at, id } = await setup();
  const look = (idleSeconds: number | null) => writeActivity(db, [{ environmentId: id, idleSeconds }]);
  await sql`update activity set last_busy_at = now() - interval '50 minutes'`.execute(db);
  await look(null);
  await look(maxIdleSeconds);
  expect(await at("last_busy_at")).toBe(-50);
  await look(1200);
  expect(await at("last_busy_at")).toBe(-20);
  await look(0);
  expect(await at("last_busy_at")).toBe(0);
});

test("CPU, any GPU and a download count as work without a busy kernel; an open tab does not", () => {
  const idle = {
    ...{ environmentId: "one", cpuCores: 0.05, memoryMb: 900, homeMb: 1 },
    ...{ receivedBytesPerSecond: 2000, sentBytesPerSecond: 9000 },
    gpus: [{ id: "a", usePercent: 1, memoryMb: 9000, watts: 20 }],
  };
  expect(isWorking(idle)).toBe(false);
  expect(isWorking({ ...idle, receivedBytesPerSecond: null, sentBytesPerSecond: null })).toBe(false);
  expect(isWorking({ ...idle, cpuCores: 0.3 })).toBe(true);
  expect(isWorking({ ...idle, receivedBytesPerSecond: 1e6 })).toBe(true);
  expect(isWorking({ ...idle, gpus: [...idle.gpus, { id: "b", usePercent: 30, memoryMb: 1, watts: 90 }] })).toBe(true);
});

test("an owner who acts at the moment of the idle stop wins in either order", async () => {
  const { db, owned, idle, keep, pass, read, id, reach } = await setup();
  const due = async () => {
    await idle(51);
    await keep();
    await idle(11);
  };
  await due();
  // The owner's transaction has the row; the stop waits for it, and finds that somebody is there.
  const { promise: gone, resolve: go } = Promise.withResolvers<void>();
  const { promise: locked, resolve: hasIt } = Promise.withResolvers<void>();
  const owner = db.transaction().execute(async (tx) => {
    await sql`select 1 from environments where id = ${id} for update`.execute(tx);
    hasIt();
    await gone;
    await sql`update activity set last_busy_at = now()`.execute(tx);
  });
  await locked;
  const stop = keep();
  await expect
    .poll(async () => (await sql`select 1 from pg_locks where not granted`.execute(db)).rows.length)
    .toBeGreaterThan(0);
  go();
  await Promise.all([owner, stop]);
  expect(await read(id)).toMatchObject({ desired: "running", idle_stop_at: null, stop_reason: null });

  await due();
  await keep();
  expect(await read(id)).toMatchObject({ desired: "stopped", stop_reason: "idle" });
  await act(db, owned, "restart");
  await pass();
  expect(await read(id)).toMatchObject({ desired: "running", status: "active", stop_reason: null });
  await keep();
  expect(await read(id)).toMatchObject({ desired: "running" });
  await act(db, owned, "stop");
  await reach(id, "stopped");
  expect((await db.selectFrom("sessions").select("reason").execute()).at(-1)).toEqual({ reason: "stopped" });
});

test("a journey: set, notified by bell and mail, snoozed, stopped with its time banked, started again", async () => {
  const product = await testApp({}, { fake: { cores: 0 } });
  product.deliver();
  const { db, must, call, driver } = product;
  const ada = await product.signUp("Ada");
  const { environment_id: id } = await product.rent(ada, { duration: 6 });
  const drivers = new Map([["local", driver]]);
  const sampling = startSampling({ db, drivers, announce: async () => {}, log: silentLogger, intervalMs: 50 });
  onTestFinished(() => sampling.stop());
  const detail = async () =>
    environmentDetail.reply.parse(await must("GET", `/environments/${id}`, ada.token)).environment;
  const idle = (minutes: number) =>
    sql`
      with told as (update environments set due_at = now(), idle_stop_at = idle_stop_at - make_interval(mins => ${minutes}),
        idle_snoozed_until = idle_snoozed_until - make_interval(mins => ${minutes}))
      update activity set last_busy_at = last_busy_at - make_interval(mins => ${minutes})`.execute(db);
  expect((await detail()).idle_stop).toMatchObject({ minutes: null, stops_at: null, snoozed_until: null });

  for (const minutes of [45, "30", 0, undefined]) {
    const refused = await call("PUT", `/environments/${id}/idle-stop`, ada.token, { minutes });
    expect([refused.statusCode, refused.json().code], String(minutes)).toEqual([400, "invalid_request"]);
  }
  const set = await must("PUT", `/environments/${id}/idle-stop`, ada.token, { minutes: 30 });
  expect(setIdleStopCall.reply.parse(set).idle_stop).toMatchObject({ minutes: 30, stops_at: null });
  await idle(21);
  await expect.poll(async () => (await detail()).idle_stop.stops_at).not.toBeNull();
  const mails = () => db.selectFrom("mails").where("subject", "like", "first-lab %idle%").select("subject").execute();
  expect(await mails()).toHaveLength(1);
  expect((await must("POST", `/environments/${id}/idle-stop/snooze`, ada.token, {})).idle_stop.stops_at).toBeNull();
  await idle(61);
  await expect.poll(async () => (await detail()).idle_stop.stops_at).not.toBeNull();
  await idle(11);
  await expect.poll(async () => (await detail()).status, { timeout: 10_000 }).toBe("stopped");
  const now = await detail();
  expect(now.banked_seconds).toBeGreaterThan(5.9 * 3600);
  expect(now.sessions[0]).toMatchObject({ reason: "idle" });
  expect((await mails()).map(({ subject }) => subject).toSorted()).toEqual([
    "first-lab is idle and stops in 10 minutes",
    "first-lab is idle and stops in 10 minutes",
    "first-lab was stopped because it was idle",
  ]);
  await must("POST", `/docker/restart_container/${id}/${ada.id}`, ada.token, {});
  await expect.poll(async () => (await detail()).status, { timeout: 10_000 }).toBe("active");
  expect((await detail()).idle_stop).toMatchObject({ minutes: 30, stops_at: null, snoozed_until: null });
  await must("POST", `/environments/${id}/terminate`, ada.token, { confirm: "first-lab" });
  expect((await call("PUT", `/environments/${id}/idle-stop`, ada.token, { minutes: null })).json().code).toBe(
    "action_not_allowed",
  );
});
