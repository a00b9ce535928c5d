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

test("an installation without anything has an overview too", async () => {
  const { enrol } = await testConsole();
  const own = await enrol();
  expect(await own.must("GET", "now")).toMatchObject({
    hosts: { open: 0, closed: 0 },
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
