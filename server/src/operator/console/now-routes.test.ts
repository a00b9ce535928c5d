import { sql } from "kysely";
import { expect, test } from "vitest";
import { recordAct } from "../../audit/record-act.ts";
import { testApp } from "../../testing/test-app.ts";
import type { Diagnosis } from "../doctor/diagnose.ts";
import { cli, testConsole } from "./testing/test-console.ts";

test("what an operator sees in the morning: money, machines, launches and the doctor's findings with their time", async () => {
  const tenants = await testApp();
  const { enrol } = await testConsole({ db: tenants.db });
  tenants.deliver();
  const user = await tenants.signUp();
  await tenants.rent(user);
  await expect.poll(async () => (await tenants.db.selectFrom("launch_times").selectAll().execute()).length).toBe(1);
  const own = await enrol();
  expect(await own.must("GET", "now")).toMatchObject({
    waiting: { refund_requests: 0, disputes: 0, refunds: [] },
    hosts: { open: 1, closed: 0 },
    gpus: { total: 8, free: 6, leased: 2, quarantined: 0 },
    environments: { active: 1, pending: 0 },
    queue: { waiting: 0, since: null },
    launches: { count: 1, p95_ms: expect.any(Number) },
    revenue: { amounts: [{ currency: "USD", paid_minor: expect.any(Number), refunded_minor: 0 }] },
  });
  const { gpus } = await own.must("GET", "hosts");
  const { id, subdomain: name } = await tenants.db.selectFrom("environments").selectAll().executeTakeFirstOrThrow();
  const leases = gpus.map(({ lease }: { lease: unknown }) => lease);
  const rented = { kind: "environment", id, name };
  expect(leases.filter((lease: unknown) => lease !== null)).toEqual([rented, rented]);
});

test("G323 the day in half hours, what happened last and since when nothing is free, from what is stored anyway", async () => {
  const tenants = await testApp();
  const { db } = tenants;
  const { enrol } = await testConsole({ db });
  tenants.deliver();
  await tenants.rent(await tenants.signUp());
  await expect.poll(async () => (await db.selectFrom("launch_times").selectAll().execute()).length).toBe(1);
  const own = await enrol();
  const { day, latest, gpus } = await own.must("GET", "now");
  expect(gpus).toMatchObject({ free: 6, sold_out_since: null });
  expect(day).toHaveLength(48);
  const sums = (name: string) => day.reduce((sum: number, step: Record<string, number>) => sum + (step[name] ?? 0), 0);
  expect([sums("launched"), sums("undelivered"), sums("queued")]).toEqual([1, 0, 0]);
  expect(day.at(-1).rented).toBe(2);
  const { id, subdomain: name, order_id } = await db.selectFrom("environments").selectAll().executeTakeFirstOrThrow();
  expect(latest.map(({ at: _, ...event }: { at: string }) => event)).toEqual([
    {
      kind: "act",
      what: "operator.set_up",
      name: own.email,
      id: own.email,
      detail: `operator:${own.email}`,
      amount: 0,
    },
    { kind: "act", what: "operator.add", name: own.email, id: own.email, detail: "cli:test", amount: 0 },
    { kind: "ready", what: "", name, id, detail: "", amount: expect.any(Number) },
    { kind: "money", what: "capture", name: "", id: order_id, detail: "USD", amount: expect.any(Number) },
  ]);

  // The run came from the warm pool, whose lease is older than the rental.
  const rentedBefore = async () => (await own.must("GET", "now")).day.at(-3).rented;
  await sql`update gpu_leases set created_at = now() - interval '10 hours'`.execute(db);
  expect(await rentedBefore()).toBe(2);
  await sql`update environments set warm = true`.execute(db);
  expect(await rentedBefore()).toBe(0);

  await sql`
    insert into gpu_leases (id, gpu_id, holder_kind, holder_id, created_at)
    select id, id, 'queue', 'q', now() - interval '3 hours' from gpus
    where not exists (select from gpu_leases where gpu_id = gpus.id) limit 5`.execute(db);
  const { rows } = await sql<{ at: Date }>`
    update gpus set quarantined_at = now(), quarantine_reason = 'loud'
    where not exists (select from gpu_leases where gpu_id = gpus.id) returning quarantined_at as at`.execute(db);
  await sql`insert into queue_entries (id, user_id, gpu_count) values ('q', 'ada', 1)`.execute(db);
  const soldOut = await own.must("GET", "now");
  expect(soldOut.gpus).toMatchObject({
    ...{ free: 0, leased: 7, quarantined: 1, not_offered: 0 },
    sold_out_since: rows[0]?.at.toISOString(),
  });
  expect(soldOut.day.reduce((sum: number, { queued }: { queued: number }) => sum + queued, 0)).toBe(1);

  // No reason: the machine has no room for it now.
  await sql`update gpus set quarantine_reason = '' where quarantined_at is not null`.execute(db);
  expect((await own.must("GET", "now")).gpus).toMatchObject({ quarantined: 0, not_offered: 1 });
});

test("an installation without anything has an overview too", async () => {
  const { enrol } = await testConsole();
  const own = await enrol();
  expect(await own.must("GET", "now")).toMatchObject({
    hosts: { open: 0, closed: 0 },
    gpus: { total: 0, sold_out_since: null },
    launches: { count: 0, p50_ms: null, p95_ms: null },
    revenue: { amounts: [] },
  });
});

test("the doctor runs in the background: a slow run delays no reply, and one that breaks leaves the last result", async () => {
  const runs: PromiseWithResolvers<Diagnosis>[] = [];
  const diagnose = () => {
    const run = Promise.withResolvers<Diagnosis>();
    runs.push(run);
    return run.promise;
  };
  const { enrol, errors } = await testConsole({ diagnose });
  const own = await enrol();
  const doctor = async () => (await own.must("GET", "now")).doctor;
  expect(await doctor()).toEqual({ checked_at: null, running: true, notes: [], findings: [] });
  await own.must("POST", "now/check", {});
  expect(runs, "one at a time").toHaveLength(1);
  const finding = { what: "Disks that are full", remedy: "make room", rows: ["/data"] };
  const kind = "disk_full";
  runs[0]?.resolve({
    notes: ["A note"],
    findings: [
      { kind, ...finding },
      { kind, ...finding, rows: [] },
    ],
  });
  await expect.poll(doctor).toEqual({
    ...{ checked_at: expect.any(String), running: false, notes: ["A note"], findings: [finding] },
  });
  await own.must("POST", "now/check", {});
  expect((await doctor()).running).toBe(true);
  runs[1]?.reject(new Error("broken"));
  await expect.poll(async () => (await doctor()).running).toBe(false);
  expect((await doctor()).findings).toEqual([finding]);
  expect(errors.length).toBe(1);
});

test("the audit is searched by subject and time, and verified", async () => {
  const { db, enrol } = await testConsole();
  const own = await enrol();
  await db
    .transaction()
    .execute((tx) => recordAct(tx, { ...cli, reason: "loud" }, "gpu.quarantine", "gpu-1", { held: true }));
  const search = async (body: object) => (await own.must("POST", "audit/search", body)).acts;
  expect(await search({ subject: " gpu-1 " })).toEqual([
    {
      ...{ no: 3, at: expect.any(String), actor: "cli:test", act: "gpu.quarantine", subject: "gpu-1" },
      ...{ reason: "loud", details: { held: true } },
    },
  ]);
  expect(await search({ subject: "" })).toHaveLength(3);
  expect(await search({ subject: "", since: new Date(Date.now() + 60_000).toISOString() })).toEqual([]);
  expect(await own.must("GET", "audit/verify")).toMatchObject({ acts: 3, broken: null });
  await db.connection().execute(async (connection) => {
    await sql`set session_replication_role = replica`.execute(connection);
    await sql`update audit set reason = 'quiet' where id = 3`.execute(connection);
    await sql`set session_replication_role = default`.execute(connection);
  });
  expect(await own.must("GET", "audit/verify")).toMatchObject({ acts: 2, broken: 3 });
});
