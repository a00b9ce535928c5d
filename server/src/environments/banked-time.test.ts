import { sql } from "kysely";
import { expect, test } from "vitest";
import { endBankedTime } from "./banked-time.ts";
import { setupEnvironments } from "./testing.ts";

async function setup() {
  const base = await setupEnvironments();
  const { db, rent, reach, want, parts } = base;
  const id = await rent({ durationHours: 6 });
  await reach(id, "active");
  await want(id, "stopped");
  await reach(id, "stopped");
  return {
    ...base,
    id,
    /** So long before the end, looked at twice; answers what has been told so far. */
    async told(left: string) {
      await sql`update environments set banked_until = now() + ${left}::interval`.execute(db);
      await endBankedTime(parts);
      await endBankedTime(parts);
      const rows = db.selectFrom("notifications").select("id").where("cause", "like", "banked:%");
      return (await rows.execute()).length;
    },
  };
}

test("G113 banked time ends a year after the last session, told 30, 7 and 1 days before", async () => {
  const { id, read, told, reach, db } = await setup();
  const days = ((await read(id)).banked_until?.getTime() ?? 0) - Date.now();
  expect(days / 86_400_000).toBeCloseTo(365, 1);
  expect(await told("31 days")).toBe(0);
  expect(await told("29 days")).toBe(1);
  expect(await told("8 days")).toBe(1);
  expect(await told("6 days")).toBe(2);
  expect(await told("25 hours")).toBe(2);
  expect(await told("23 hours")).toBe(3);
  expect((await read(id)).desired).toBe("stopped");
  expect(await told("-1 minute")).toBe(3);
  await reach(id, "terminated");
  expect(await read(id)).toMatchObject({ ended_reason: "expired", banked_until: null });
  const { rows } = await sql<{ days: number }>`
    select extract(epoch from delete_at - now()) / 86400 as days from homes`.execute(db);
  expect(rows[0]?.days).toBeCloseTo(30, 1);
});

test("G113 who could not be told in time gets a day more", async () => {
  const { id, read, told } = await setup();
  expect(await told("-3 days")).toBe(1);
  const row = await read(id);
  expect(row.desired).toBe("stopped");
  expect(((row.banked_until?.getTime() ?? 0) - Date.now()) / 3_600_000).toBeCloseTo(24, 1);
});

test("G113 a start takes the end away, and the next stop begins a new year", async () => {
  const { id, db, read, told, want, reach } = await setup();
  expect(await told("6 days")).toBe(1);
  const { act } = await import("./actions.ts");
  await act(db, { id, userId: "user" }, "start");
  await reach(id, "active");
  expect(await read(id)).toMatchObject({ banked_until: null });
  await want(id, "stopped");
  await reach(id, "stopped");
  expect((((await read(id)).banked_until?.getTime() ?? 0) - Date.now()) / 86_400_000).toBeCloseTo(365, 1);
  expect((await read(id)).notice).toBe("");
});

test("G113 a monthly plan that is stopped has no such end: its clock runs", async () => {
  const { rent, reach, want, read } = await setupEnvironments();
  const id = await rent({ durationHours: 720 });
  await reach(id, "active");
  await want(id, "stopped");
  await reach(id, "stopped");
  expect(await read(id)).toMatchObject({ banked_until: null, banked_seconds: 0 });
});
