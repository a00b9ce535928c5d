import { sql } from "kysely";
import { expect, test } from "vitest";
import { backoffMs } from "../../database/work-queue.ts";
import { type Setup, setupEnvironments } from "../testing/setup-environments.ts";
import { reconcile } from "./reconcile.ts";
import { fetchEnvironments } from "./work-lease.ts";

const stagesOf = ({ db }: Setup, id: string, generation: number) =>
  sql<{
    stage: string;
  }>`select stage from launch_stages where environment_id = ${id} and generation = ${generation} order by at, stage`
    .execute(db)
    .then(({ rows }) => rows.map(({ stage }) => stage).sort());

const all = ["answering", "created", "image", "ordered", "paid", "placed", "ready", "started"];

test("a launch is pending until it is ready, then active with its time, one session, every stage and one notice", async () => {
  const setup = await setupEnvironments({ options: { answerMs: 60 } });
  const { db, rent, read, pass, reach, recorded, leases } = setup;
  const id = await rent({ gpuCount: 2, durationHours: 6 });
  await pass({ isReady: async () => false });
  expect(await read(id)).toMatchObject({ status: "pending", generation: 1, created_at: null, expires_at: null });
  await reach(id, "active");
  const row = await read(id);
  expect((row.expires_at?.getTime() ?? 0) - (row.created_at?.getTime() ?? 0)).toBe(6 * 3_600_000);
  expect(row).toMatchObject({ stage: null, attempts: 0, last_error: null, lease_token: null });
  expect(row.run_token).toMatch(/^[0-9a-f]{32}$/);
  expect(row.run_token).not.toBe(row.secret);
  expect(await stagesOf(setup, id, 1)).toEqual(all);
  expect(recorded.delivered).toEqual([id]);
  expect(await leases(id)).toBe(2);
  expect(await db.selectFrom("sessions").selectAll().execute()).toMatchObject([
    { environment_id: id, closed_at: null },
  ]);
  expect((await db.selectFrom("notifications").selectAll().execute()).map(({ cause }) => cause)).toEqual([
    `ready:${id}`,
  ]);
});

test("a late delivery adds the bonus; an order that no longer waits gets no active environment at all", async () => {
  const { db, rent, read, pass, recorded, driver, deps } = await setupEnvironments();
  const late = await rent({ durationHours: 1 });
  await pass({ delivery: { ...deps.delivery, delivered: async () => ({ bonusHours: 2 }) } });
  const row = await read(late);
  expect((row.expires_at?.getTime() ?? 0) - (row.created_at?.getTime() ?? 0)).toBe(3 * 3_600_000);
  const refunded = await rent();
  const statuses: string[] = [];
  const delivered = async () => undefined;
  for (let passes = 0; passes < 3; passes++) {
    await pass({ delivery: { ...deps.delivery, delivered } });
    statuses.push((await read(refunded)).status);
  }
  expect(statuses).toEqual(["pending", "terminated", "terminated"]);
  expect(recorded.undelivered).toEqual([`${refunded}:not_delivered`]);
  expect(await driver.observe(refunded)).toEqual({ state: "absent" });
  expect(await db.selectFrom("sessions").where("environment_id", "=", refunded).selectAll().execute()).toEqual([]);
});

test("a stop banks an hourly plan's time and frees its GPUs; a restart makes a new run with that time", async () => {
  const { db, rent, read, reach, want, leases, driver } = await setupEnvironments();
  const id = await rent({ durationHours: 6, gpuCount: 2 });
  await reach(id, "active");
  const { run_token: firstToken } = await read(id);
  await sql`update environments set expires_at = now() + interval '1 hour 30 seconds' where id = ${id}`.execute(db);
  await want(id, "stopped");
  await reach(id, "stopped");
  const stopped = await read(id);
  expect(stopped).toMatchObject({ expires_at: null, run_token: null, endpoint: null });
  expect(stopped.banked_seconds).toBeGreaterThan(3600);
  expect(stopped.banked_seconds).toBeLessThanOrEqual(3630);
  expect(await leases(id)).toBe(0);
  expect(await driver.observe(id)).toEqual({ state: "absent" });
  expect(await db.selectFrom("sessions").select("reason").execute()).toEqual([{ reason: "stopped" }]);
  await sql`insert into gpu_leases (id, gpu_id, holder_kind, holder_id) select id, id, 'environment', ${id} from gpus limit 2`.execute(
    db,
  );
  await want(id, "running");
  await reach(id, "active");
  const again = await read(id);
  expect(again).toMatchObject({ generation: 2, banked_seconds: 0, created_at: stopped.created_at });
  expect(again.run_token).not.toBe(firstToken);
  const leftMs = (again.expires_at?.getTime() ?? 0) - Date.now();
  expect(Math.abs(leftMs - stopped.banked_seconds * 1000)).toBeLessThan(5000);
  expect(await db.selectFrom("sessions").select("closed_at").where("closed_at", "is", null).execute()).toHaveLength(1);
});

test("G2: a monthly plan keeps GPUs and clock while stopped", async () => {
  const { rent, read, reach, want, leases } = await setupEnvironments();
  const id = await rent({ durationHours: 720, gpuCount: 2 });
  await reach(id, "active");
  const { expires_at } = await read(id);
  await want(id, "stopped");
  await reach(id, "stopped");
  expect(await read(id)).toMatchObject({ expires_at, banked_seconds: 0 });
  expect(await leases(id)).toBe(2);
  await want(id, "running");
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ expires_at, generation: 2 });
});

test("pause keeps run, GPUs and clock; resuming is the same generation", async () => {
  const { rent, read, reach, want, leases } = await setupEnvironments();
  const id = await rent();
  await reach(id, "active");
  const { expires_at, run_token } = await read(id);
  await want(id, "paused");
  await reach(id, "paused");
  expect(await read(id)).toMatchObject({ expires_at, run_token, generation: 1 });
  expect(await leases(id)).toBe(1);
  await want(id, "running");
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ expires_at, run_token, generation: 1 });
});

test("a machine that cannot pause leaves the environment running", async () => {
  const { rent, read, reach, want, pass } = await setupEnvironments({ options: { pause: 0 } });
  const id = await rent();
  await reach(id, "active");
  await want(id, "paused");
  await pass();
  expect(await read(id)).toMatchObject({ status: "active", desired: "running" });
});

test("expiry by the database's clock: container gone, GPUs free, name kept for its owner, token void", async () => {
  const { db, rent, read, reach, pass, leases, driver } = await setupEnvironments();
  const id = await rent({ subdomain: "mine" });
  await reach(id, "active");
  await sql`insert into grants (id, user_id, environment_id) values ('g', 'user', ${id})`.execute(db);
  await sql`update environments set expires_at = now() where id = ${id}`.execute(db);
  await pass();
  expect(await read(id)).toMatchObject({
    status: "terminated",
    ended_reason: "expired",
    run_token: null,
    endpoint: null,
  });
  expect(await driver.observe(id)).toEqual({ state: "absent" });
  expect(await leases(id)).toBe(0);
  const [claim] = await db.selectFrom("subdomain_claims").selectAll().execute();
  expect(claim).toMatchObject({ name: "mine", user_id: "user", order_id: null });
  expect(Math.round(((claim?.retained_until?.getTime() ?? 0) - Date.now()) / 86_400_000)).toBe(30);
  expect((await db.selectFrom("grants").select("revoked_at").execute())[0]?.revoked_at).toBeInstanceOf(Date);
  expect((await db.selectFrom("notifications").selectAll().execute()).map(({ cause }) => cause)).toContain(
    `ended:${id}`,
  );
});

test("a row is due at its expiry, however long its wait", async () => {
  const { db, rent, read, reach, pass } = await setupEnvironments();
  const id = await rent();
  await reach(id, "active");
  await sql`update environments set expires_at = now() + interval '3 seconds' where id = ${id}`.execute(db);
  await pass();
  const { due_at, expires_at } = await read(id);
  expect(due_at).toEqual(expires_at);
});

test("a launch that is given up is reported as undelivered once, after the container is gone, and everything is free", async () => {
  const { db, rent, read, pass, recorded, deps, driver, leases } = await setupEnvironments({
    options: { answerMs: 60_000 },
  });
  const id = await rent();
  await pass();
  expect((await driver.observe(id)).state).not.toBe("absent");
  await sql`update environments set give_up_at = now() where id = ${id}`.execute(db);
  const whenNotified: string[] = [];
  const undelivered: typeof deps.delivery.undelivered = async (tx, environment, reason) => {
    whenNotified.push((await driver.observe(id)).state);
    await deps.delivery.undelivered(tx, environment, reason);
  };
  driver.failNext("remove");
  await pass({ delivery: { ...deps.delivery, undelivered } });
  expect(recorded.undelivered).toEqual([]);
  await pass({ delivery: { ...deps.delivery, undelivered } });
  await pass({ delivery: { ...deps.delivery, undelivered } });
  expect(whenNotified).toEqual(["absent"]);
  expect(recorded.undelivered).toEqual([`${id}:not_delivered`]);
  expect(await read(id)).toMatchObject({ status: "terminated", ended_reason: "not_delivered", created_at: null });
  expect(await leases(id)).toBe(0);
  expect(await db.selectFrom("subdomain_claims").selectAll().execute()).toEqual([]);
});

test("a launch waits for its image and shows its percent; then every stage is stamped", async () => {
  const setup = await setupEnvironments();
  const { db, rent, read, pass, reach, driver } = setup;
  await sql`insert into host_images (host_id, container_type, state, percent) values ('host', 'jupyter', 'preparing', 40)`.execute(
    db,
  );
  const id = await rent();
  await pass();
  expect(await read(id)).toMatchObject({ status: "pending", stage: "image", stage_percent: 40, generation: 0 });
  expect(driver.calls.get("start") ?? 0).toBe(0);
  await sql`update host_images set state = 'ready'`.execute(db);
  await reach(id, "active");
  expect(await stagesOf(setup, id, 1)).toEqual(all);
});

test("C16: after a worker died behind a start, the next one finds the same run", async () => {
  const { db, rent, read, reach, driver, deps, pass } = await setupEnvironments();
  const id = await rent();
  const [claimed] = await fetchEnvironments(db, ["host"], 20, sql`true`);
  const died = new Error("killed");
  const dying = {
    ...driver,
    start: async (spec: Parameters<typeof driver.start>[0]) => driver.start(spec).then(() => Promise.reject(died)),
  };
  if (claimed) await reconcile({ ...deps, drivers: new Map([["host", dying]]) }, claimed);
  const before = await driver.observe(id);
  const { run_token } = await read(id);
  await reach(id, "active");
  const after = await driver.observe(id);
  expect(await read(id)).toMatchObject({ generation: 1, run_token });
  expect(after).toMatchObject({ createdAt: before.state === "absent" ? null : before.createdAt, generation: 1 });
  await pass();
  expect(driver.machine.runs.size).toBe(1);
});

test("after a worker died between the row and the start, the next one starts the same spec", async () => {
  const { rent, read, pass, reach, driver } = await setupEnvironments();
  const id = await rent();
  driver.failNext("start");
  await pass();
  const written = await read(id);
  expect(written).toMatchObject({ generation: 1, stage: "created", status: "pending" });
  expect(written.last_error).toContain("failure of start");
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ generation: 1, run_token: written.run_token });
});

test("a run that ends by itself is restarted with the time left, as a new generation of the same session", async () => {
  const { db, rent, read, reach, pass, driver } = await setupEnvironments();
  const id = await rent();
  await reach(id, "active");
  const { expires_at } = await read(id);
  await driver.crash(id);
  await pass();
  expect(await read(id)).toMatchObject({ status: "pending", run_token: null });
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ generation: 2, expires_at, status: "active" });
  await driver.remove(id);
  await reach(id, "pending");
  await reach(id, "active");
  // What its machine ended is not its owner's time (G199).
  const again = await read(id);
  expect(again.generation).toBe(3);
  expect(again.expires_at?.getTime()).toBeGreaterThan(expires_at?.getTime() ?? 0);
  expect(await db.selectFrom("sessions").selectAll().execute()).toHaveLength(1);
});

test("the back-off doubles from 1 s to 60 s", () => {
  expect([1, 2, 3, 6, 7, 40].map((attempts) => backoffMs(attempts))).toEqual([
    1000, 2000, 4000, 32_000, 60_000, 60_000,
  ]);
});
