import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../database/database.ts";
import { databaseBefore } from "../../database/testing.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { setupEnvironments } from "../testing/setup-environments.ts";
import { endBankedTime } from "./end-banked-time.ts";

async function setup() {
  const base = await setupEnvironments();
  const { db, rent, reach, want, deps } = base;
  const id = await rent({ durationHours: 6 });
  await reach(id, "active");
  await want(id, "stopped");
  await reach(id, "stopped");
  return {
    ...base,
    id,
    /** So long before the end, looked at twice; answers what has been told so far. */
    async recorded(left: string) {
      await sql`update environments set banked_until = now() + ${left}::interval`.execute(db);
      await endBankedTime(deps);
      await endBankedTime(deps);
      const rows = db.selectFrom("notifications").select("id").where("cause", "like", "banked:%");
      return (await rows.execute()).length;
    },
  };
}

test("G113 banked time ends a year after the last session, notified 30, 7 and 1 days before", async () => {
  const { id, read, recorded, reach, db } = await setup();
  const days = ((await read(id)).banked_until?.getTime() ?? 0) - Date.now();
  expect(days / 86_400_000).toBeCloseTo(365, 1);
  expect(await recorded("31 days")).toBe(0);
  expect(await recorded("29 days")).toBe(1);
  expect(await recorded("8 days")).toBe(1);
  expect(await recorded("6 days")).toBe(2);
  expect(await recorded("25 hours")).toBe(2);
  expect(await recorded("23 hours")).toBe(3);
  expect((await read(id)).desired).toBe("stopped");
  expect(await recorded("-1 minute")).toBe(3);
  await reach(id, "terminated");
  expect(await read(id)).toMatchObject({ ended_reason: "expired", banked_until: null });
  const { rows } = await sql<{ days: number }>`
    select extract(epoch from delete_at - now()) / 86400 as days from homes`.execute(db);
  expect(rows[0]?.days).toBeCloseTo(30, 1);
});

test("G113 an owner notified late gets a day more", async () => {
  const { id, read, recorded } = await setup();
  expect(await recorded("-3 days")).toBe(1);
  const row = await read(id);
  expect(row.desired).toBe("stopped");
  expect(((row.banked_until?.getTime() ?? 0) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
});

test("G113 a start removes that end, and the next stop begins a new year", async () => {
  const { id, db, read, recorded, want, reach } = await setup();
  expect(await recorded("6 days")).toBe(1);
  const { act } = await import("../api/environment-actions.ts");
  await act(db, { id, userId: "user" }, "start");
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ banked_until: null });
  await want(id, "stopped");
  await reach(id, "stopped");
  expect((((await read(id)).banked_until?.getTime() ?? 0) - Date.now()) / 86_400_000).toBeCloseTo(365, 1);
  expect((await read(id)).notice).toBe("");
});

test("G113 a stopped monthly plan has no such end: its clock runs", async () => {
  const { rent, reach, want, read } = await setupEnvironments();
  const id = await rent({ durationHours: 720 });
  await reach(id, "active");
  await want(id, "stopped");
  await reach(id, "stopped");
  expect(await read(id)).toMatchObject({ banked_until: null, banked_seconds: 0 });
});

test("G113 time banked by an earlier version is announced a month before its end, and an idle stop stays one", async () => {
  const { client, connection } = await databaseBefore("0029");
  await client.query(`
    insert into hosts (id, kind) values ('host', 'fake');
    insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
        currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, hold_until, watch_until, paid_at)
      select id, 'ada', 'fulfilled', 'jupyter', id, 1, 6, 20, 20, 'USD', 8822, 'embedded', 'test', 'order_' || id, '', now(), now(), now()
      from (values ('old'), ('new'), ('down')) o (id);
    insert into environments (id, order_id, user_id, container_type, subdomain, gpu_count, duration_hours, host_id, home, desired,
        status, secret, give_up_at, created_at, expires_at, banked_seconds, idle_stopped, down_since) values
      ('1old', 'old', 'ada', 'jupyter', 'old', 1, 6, 'host', 'a', 'stopped', 'stopped', '', now(), now(), null, 60, true, null),
      ('2new', 'new', 'ada', 'jupyter', 'new', 1, 6, 'host', 'b', 'stopped', 'stopped', '', now(), now(), null, 60, false, null),
      ('3down', 'down', 'ada', 'jupyter', 'down', 1, 6, 'host', 'c', 'running', 'pending', '', now(), now(), now(), 0, false, now());
    insert into sessions (id, environment_id, user_id, container_type, closed_at) values
      ('s', '1old', 'ada', 'jupyter', now() - interval '400 days'), ('t', '2new', 'ada', 'jupyter', now() - interval '5 days')`);
  await client.end();
  const { db, close } = await openDatabase(connection, silentLogger);
  onTestFinished(close);
  const rows = await db.selectFrom("environments").selectAll().orderBy("id").execute();
  const days = rows.map(({ banked_until: at }) => at && Math.round((at.getTime() - Date.now()) / 86_400_000));
  expect(days).toEqual([31, 360, null]);
  expect(rows.map(({ stop_reason }) => stop_reason)).toEqual(["idle", null, null]);
  expect(rows[2]?.fault_since, "under the promise of before").toEqual(rows[2]?.down_since);
});
