import { sql } from "kysely";
import { expect, test } from "vitest";
import { setupEnvironments } from "../testing/setup-environments.ts";
import { reconcile } from "./reconcile.ts";
import { fetchEnvironments, grantTime, makeDue } from "./work-lease.ts";

test("after an outage longer than the deadline, half of it is left from the first attempt on", async () => {
  const { db, rent, read, reach, pass, recorded } = await setupEnvironments();
  const id = await rent({ giveUpInMs: 600_000 });
  await sql`update environments set requested_at = now() - interval '1 hour', give_up_at = now() - interval '50 minutes'`.execute(
    db,
  );
  await pass({ isReady: async () => false });
  const row = await read(id);
  expect(row).toMatchObject({ status: "pending", desired: "running" });
  expect(Math.round((row.give_up_at.getTime() - (row.first_attempt_at?.getTime() ?? 0)) / 1000)).toBe(300);
  await pass({ isReady: async () => false });
  expect((await read(id)).give_up_at).toEqual(row.give_up_at);
  await sql`update environments set give_up_at = now()`.execute(db);
  await reach(id, "terminated");
  expect(recorded.undelivered).toEqual([`${id}:not_delivered`]);
});

test("a launch that begins in time keeps its deadline", async () => {
  const { rent, read, pass } = await setupEnvironments();
  const id = await rent();
  const { give_up_at } = await read(id);
  await pass({ isReady: async () => false });
  expect(await read(id)).toMatchObject({ give_up_at, first_attempt_at: expect.any(Date) });
});

test("an environment that was ready in time is not given up after the deadline", async () => {
  const { db, rent, read, reach, pass } = await setupEnvironments();
  const id = await rent();
  await reach(id, "active");
  await sql`update environments set give_up_at = now() - interval '1 second'`.execute(db);
  await pass();
  expect(await read(id)).toMatchObject({ status: "active", desired: "running", ended_reason: null });
});

test("a request of the owner during a failed pass does not wait for the back-off", async () => {
  const { db, rent, read, deps, driver } = await setupEnvironments();
  const id = await rent();
  await sql`update environments set attempts = 9`.execute(db);
  const [claimed] = await fetchEnvironments(db, ["host"], 1, sql`true`);
  driver.failNext("observe");
  await sql`update environments set desired = 'terminated', ended_reason = 'cancelled' where id = ${id}`.execute(db);
  if (claimed) await reconcile(deps, claimed);
  const { lease_token, due_at } = await read(id);
  expect(lease_token).toBe(null);
  expect(due_at.getTime()).toBeLessThanOrEqual(Date.now());
});

test("an environment that expired by an unsure clock goes on, and is checked again each second, not in a busy loop", async () => {
  const { db, rent, read, reach, deps } = await setupEnvironments();
  const id = await rent();
  await reach(id, "active");
  await sql`update environments set expires_at = now(), due_at = now()`.execute(db);
  const before = Date.now();
  const [claimed] = await fetchEnvironments(db, ["host"], 1, sql`false`);
  if (claimed) await reconcile(deps, claimed);
  const { due_at, ...row } = await read(id);
  expect(row).toMatchObject({ status: "active", desired: "running", lease_token: null });
  expect(due_at.getTime() - before).toBeGreaterThanOrEqual(1000);
});

test("several rows are locked in the order of their ids, whatever their order in the table", async () => {
  const { db, rent, deps } = await setupEnvironments();
  const [first = "", last = ""] = [await rent(), await rent()].sort();
  await sql`update environments set down_since = now()`.execute(db);
  const claimed = (await fetchEnvironments(db, ["host"], 2, sql`false`)).toSorted(({ id }) => (id === last ? -1 : 1));
  const lying = sql<{ id: string }>`select id from environments order by ctid`;
  const works = {
    "what is found as it was": () => Promise.all(claimed.map((row) => deps.writeUnchanged({ row, waitMs: 0 }))),
    "what becomes due": () =>
      db.transaction().execute(async (tx) => {
        // Few ids are found by an index, which happens to give the order; of many the table is read as it lies.
        await sql`select set_config('enable_' || scan, 'off', true) from unnest(array['indexscan', 'bitmapscan']) scan`.execute(
          tx,
        );
        await makeDue(tx, [last, first]);
      }),
    "what gets time": () => grantTime(db, ["host"]),
  };
  for (const [name, work] of Object.entries(works)) {
    const lastFirst = async () => {
      await sql`update environments set attempts = 0 where id = ${first}`.execute(db);
      return (await lying.execute(db)).rows.map(({ id }) => id);
    };
    await expect.poll(lastFirst).toEqual([last, first]);
    let done: Promise<unknown> = Promise.resolve();
    await db.transaction().execute(async (tx) => {
      await sql`select 1 from environments where id = ${first} for update`.execute(tx);
      done = work();
      const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => (await waiting.execute(db)).rows.length, { message: name }).toBe(1);
      await sql`select 1 from environments where id = ${last} for update nowait`.execute(tx);
    });
    await done;
  }
  expect(await db.selectFrom("environments").select("lease_token").execute()).toEqual([
    { lease_token: null },
    { lease_token: null },
  ]);
});
