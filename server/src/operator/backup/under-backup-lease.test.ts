import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { testDatabase } from "../../database/testing.ts";
import { lastBackup } from "../../installation/last-backup.ts";
import { underBackupLease } from "./under-backup-lease.ts";

async function setup() {
  const database = await testDatabase();
  onTestFinished(database.close);
  const { db } = database;
  const rows = () => db.selectFrom("backups").selectAll().orderBy("started_at").execute();
  return { db, rows, planned: { place: "/b", withHomes: true } };
}

test("one backup runs at a time; the last one that succeeded is kept, and a failure is recorded beside it", async () => {
  const { db, rows, planned } = await setup();
  expect(await lastBackup(db)).toBeUndefined();
  const gate = Promise.withResolvers<void>();
  const first = underBackupLease(db, planned, async () => {
    await gate.promise;
    return { place: "/b/1", bytes: 7 };
  });
  await expect.poll(rows).toHaveLength(1);
  const second = underBackupLease(db, planned, async () => ({ place: "/b/2", bytes: 8 }));
  await expect(second).rejects.toThrow("Another backup runs: wait until it has ended.");
  gate.resolve();
  await first;
  expect(await lastBackup(db)).toMatchObject({ place: "/b/1", bytes: 7, withHomes: true });
  const failing = underBackupLease(db, planned, () => Promise.reject(new Error("no room")));
  await expect(failing).rejects.toThrow("no room");
  expect(await rows()).toMatchObject([{ error: null }, { error: "no room", ended_at: expect.any(Date) }]);
  expect(await lastBackup(db)).toMatchObject({ place: "/b/1" });
});

test("a backup that was killed keeps no other from beginning for longer than two minutes", async () => {
  const { db, rows, planned } = await setup();
  const killed = { id: "killed", place: "/b", with_homes: false };
  await db
    .insertInto("backups")
    .values({ ...killed, seen_at: sql`now() - interval '110 seconds'` })
    .execute();
  const work = async () => ({ place: "/b/1", bytes: 1 });
  await expect(underBackupLease(db, planned, work)).rejects.toThrow("Another backup runs");
  await sql`update backups set seen_at = now() - interval '3 minutes'`.execute(db);
  await underBackupLease(db, planned, work);
  expect(await rows()).toMatchObject([{ id: "killed", error: "It was killed" }, { error: null }]);
});

test("a hundred rows are kept, and the last success whatever its age", async () => {
  const { db, rows, planned } = await setup();
  await sql`insert into backups (id, place, with_homes, ended_at, error)
    select n::text, '/b', false, now() - make_interval(hours => 300 - n), case when n > 1 then 'x' end
    from generate_series(1, 150) n`.execute(db);
  const failing = underBackupLease(db, planned, () => Promise.reject(new Error("no room")));
  await expect(failing).rejects.toThrow("no room");
  expect((await rows()).length).toBeLessThanOrEqual(102);
  expect(await lastBackup(db)).toMatchObject({ place: "/b" });
});
