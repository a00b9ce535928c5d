import { sql } from "kysely";
import { expect, test } from "vitest";
import { announceDeletions, applyRetention, deleteLapsedHomes } from "../homes/apply-retention.ts";
import { type Setup, setupEnvironments } from "../testing/setup-environments.ts";
import { noticeAt } from "../time/expiry-notices.ts";

const causes = ({ db }: Setup, id: string) =>
  db
    .selectFrom("notifications")
    .orderBy("created_at")
    .select("cause")
    .execute()
    .then((rows) =>
      rows
        .map(({ cause }) => cause)
        .filter((cause) => cause.startsWith(`expires:${id}`))
        .map((cause) => cause.split(":").at(-1)),
    );

const leave = ({ db }: Setup, id: string, seconds: number) =>
  sql`update environments set expires_at = now() + make_interval(secs => ${seconds}) where id = ${id}`.execute(db);

test("the notice for each remaining time", () => {
  expect([90_000, 86_400, 3601, 3600, 601, 600, 1].map(noticeAt)).toEqual(["", "24h", "24h", "1h", "1h", "10m", "10m"]);
});

test("each notice once; after a long gap only the newest; an hour's rental does not begin with one", async () => {
  const setup = await setupEnvironments();
  const { rent, reach, pass } = setup;
  const long = await rent({ durationHours: 48 });
  const short = await rent({ durationHours: 1, userId: "other" });
  await reach(long, "active");
  await reach(short, "active");
  await pass();
  expect(await causes(setup, long)).toEqual([]);
  expect(await causes(setup, short)).toEqual([]);
  await leave(setup, long, 80_000);
  await pass();
  await pass();
  expect(await causes(setup, long)).toEqual(["24h"]);
  await leave(setup, long, 500);
  await pass();
  await pass();
  expect(await causes(setup, long)).toEqual(["24h", "10m"]);
  await leave(setup, short, 500);
  await pass();
  expect(await causes(setup, short)).toEqual(["10m"]);
});

test("G22: at 168 hours a session is closed and the next one opened, the container untouched, notified a day before", async () => {
  const { db, rent, reach, pass, driver } = await setupEnvironments();
  const id = await rent({ durationHours: 720 });
  await reach(id, "active");
  const starts = driver.calls.get("start");
  const first = await db.selectFrom("sessions").select("id").executeTakeFirstOrThrow();
  // No session is older than its environment.
  await sql`update environments set created_at = now() - interval '168 hours'`.execute(db);
  await sql`update sessions set opened_at = now() - interval '167 hours'`.execute(db);
  await pass();
  await pass();
  expect(await db.selectFrom("sessions").selectAll().execute()).toHaveLength(1);
  await sql`update sessions set opened_at = now() - interval '168 hours'`.execute(db);
  await pass();
  await pass();
  const sessions = await db.selectFrom("sessions").orderBy("opened_at").selectAll().execute();
  expect(sessions).toMatchObject([{ id: first.id, reason: "rollover" }, { closed_at: null }]);
  expect(sessions[0]?.closed_at).toEqual(sessions[1]?.opened_at);
  expect(driver.calls.get("start")).toBe(starts);
  const notices = await db.selectFrom("notifications").select("cause").execute();
  expect(notices.filter(({ cause }) => cause.startsWith("session:"))).toEqual([{ cause: `session:${first.id}:24h` }]);
});

test.for(["active", "paused", "pending"] as const)(
  "the time of an unreachable host is credited when it is back, found %s, and nothing is given up meanwhile",
  async (status) => {
    const { db, rent, read, reach, want, pass, driver } = await setupEnvironments();
    const id = await rent({ durationHours: 6 });
    await reach(id, "active");
    if (status === "paused") {
      await want(id, status);
      await reach(id, status);
    }
    driver.failNext("observe", "unavailable", 6);
    for (let passes = 0; passes < 5; passes++) await pass();
    expect(await read(id)).toMatchObject({ status: "unknown", fault_since: expect.any(Date) });
    await sql`update environments set down_since = now() - interval '2 hours', fault_since = now() - interval '2 hours', give_up_at = now() - interval '1 hour',
      expires_at = now() + interval '1 hour'`.execute(db);
    await pass();
    const { desired, due_at, status: still } = await read(id);
    expect([desired, still]).toEqual([status === "paused" ? status : "running", "unknown"]);
    expect(due_at.getTime() - Date.now(), "asked ever less often").toBeGreaterThan(20_000);
    if (status === "pending") await driver.crash(id);
    // The host is back before JupyterLab is.
    if (status === "active") await pass({ isReady: async () => false });
    await pass();
    const row = await read(id);
    const minutes = (at: Date | null) => at && Math.round((at.getTime() - Date.now()) / 60_000) + 0;
    expect(row.status).toBe(status);
    expect(minutes(row.down_since)).toBe(status === "pending" ? 0 : null);
    if (status === "pending") expect(minutes(row.give_up_at)).toBe(10);
    // What is gone with its host's return is down for the machine's sake until its next container runs.
    if (status === "pending") await reach(id, "active");
    const back = await read(id);
    expect([minutes(back.expires_at), back.fault_since]).toEqual([180, null]);
  },
);

test("files are deleted after their retention and the name is free; an unreachable host keeps both for later", async () => {
  const { db, rent, reach, want, driver, deps } = await setupEnvironments();
  const id = await rent({ subdomain: "mine" });
  await reach(id, "active");
  await want(id, "terminated");
  await reach(id, "terminated");
  const { home } = await db.selectFrom("environments").select("home").executeTakeFirstOrThrow();
  driver.machine.homes.set(home, new Map([["notes.txt", "kept"]]));
  await deleteLapsedHomes(deps);
  expect(driver.machine.homes.has(home)).toBe(true);
  await sql`update subdomain_claims set retained_until = now()`.execute(db);
  await sql`update homes set delete_at = now()`.execute(db);
  await deleteLapsedHomes(deps);
  expect(driver.machine.homes.has(home), "nobody was told").toBe(true);
  await sql`update homes set told_at = now()`.execute(db);
  driver.failNext("deleteHome");
  await deleteLapsedHomes(deps);
  expect(driver.machine.homes.has(home)).toBe(true);
  await expect(rent({ subdomain: "mine" })).rejects.toThrow("This name is in use");
  await deleteLapsedHomes(deps);
  expect(driver.machine.homes.has(home)).toBe(false);
  expect(await db.selectFrom("subdomain_claims").selectAll().execute()).toEqual([]);
});

test("files of a launch that was never ready are deleted, also when another has its name by then; an ended one's too", async () => {
  const { db, rent, reach, want, pass, driver, deps, read } = await setupEnvironments({
    options: { answerMs: 600_000 },
  });
  const id = await rent({ subdomain: "mine", userId: "ann" });
  await pass();
  const { home } = await read(id);
  expect(driver.machine.homes.has(home)).toBe(true);
  await want(id, "terminated");
  await reach(id, "terminated");
  expect(await db.selectFrom("subdomain_claims").selectAll().execute()).toEqual([]);
  const next = await rent({ subdomain: "mine", userId: "bob" });
  await pass();
  await applyRetention(deps);
  expect(driver.machine.homes.has(home)).toBe(false);
  expect(driver.machine.homes.has((await read(next)).home)).toBe(true);
  expect(await db.selectFrom("homes").select("user_id").execute()).toEqual([{ user_id: "bob" }]);
});

test("the deletion of kept files is announced a week before, and once more on the last day", async () => {
  const { db, rent, reach, want, deps } = await setupEnvironments();
  const id = await rent({ subdomain: "mine" });
  await reach(id, "active");
  await want(id, "terminated");
  await reach(id, "terminated");
  const recorded = async (left: string) => {
    await sql`update homes set told_at = told_at - (delete_at - now() - ${left}::interval), delete_at = now() + ${left}::interval`.execute(
      db,
    );
    await announceDeletions(deps);
    await announceDeletions(deps);
    const notices = db
      .selectFrom("notifications")
      .select("id")
      .where("title", "=", "The files of mine will be deleted");
    return (await notices.execute()).length;
  };
  expect(await recorded("7 days 1 hour")).toBe(0);
  expect(await recorded("6 days 23 hours")).toBe(1);
  expect(await recorded("1 day 1 hour")).toBe(1);
  expect(await recorded("23 hours")).toBe(2);
  expect(await recorded("1 hour")).toBe(2);
  const { rows } = await sql<{
    hours: number;
  }>`select extract(epoch from delete_at - now()) / 3600 as hours from homes`.execute(db);
  expect(rows[0]?.hours).toBeCloseTo(1, 1);
});

test("P5: an owner notified late gets a day more, once; a new environment of the name starts the retention again", async () => {
  const { db, rent, reach, want, driver, deps } = await setupEnvironments();
  const home = async () =>
    await db
      .selectFrom("homes")
      .select(["told_at", sql<number>`extract(epoch from delete_at - now()) / 3600`.as("hours")])
      .executeTakeFirst();
  const end = async () => {
    const id = await rent({ subdomain: "mine" });
    await reach(id, "active");
    await want(id, "terminated");
    await reach(id, "terminated");
  };
  const lapse = async (when: string) => {
    await sql`update homes set delete_at = now() + ${when}::interval`.execute(db);
    await sql`update subdomain_claims set retained_until = now() + ${when}::interval`.execute(db);
  };
  await end();
  await lapse("-5 days");
  await announceDeletions(deps);
  expect((await home())?.hours).toBeCloseTo(24, 1);
  await end();
  expect(await home()).toMatchObject({ told_at: null });
  expect((await home())?.hours).toBeCloseTo(30 * 24, 1);
  await lapse("2 days");
  await announceDeletions(deps);
  expect((await home())?.hours).toBeCloseTo(48, 1);
  await lapse("0");
  await announceDeletions(deps);
  await deleteLapsedHomes(deps);
  expect(await home()).toBeUndefined();
  expect(driver.machine.homes.size).toBe(0);
});
