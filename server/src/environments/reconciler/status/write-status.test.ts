import { sql } from "kysely";
import { expect, test } from "vitest";
import { setupEnvironments } from "../../testing/setup-environments.ts";
import { reconcile } from "../reconcile.ts";
import { fetchEnvironments } from "../work-lease.ts";

test("two workers lease each due row once, and a late one writes nothing", async () => {
  const { db, rent, read, deps, driver } = await setupEnvironments({ slots: 20 });
  const ids = await Promise.all(Array.from({ length: 12 }, (_, index) => rent({ userId: `user-${index}` })));
  const claims = await Promise.all(Array.from({ length: 4 }, () => fetchEnvironments(db, ["host"], 12, sql`true`)));
  expect(
    claims
      .flat()
      .map(({ id }) => id)
      .sort(),
  ).toEqual([...ids].sort());
  const late = claims.flat()[0];
  if (!late) throw new Error("nothing leased");
  await sql`update environments set due_at = now(), lease_expires_at = now() where id = ${late.id}`.execute(db);
  const [next] = await fetchEnvironments(db, ["host"], 12, sql`true`);
  expect(next?.id).toBe(late.id);
  await reconcile(deps, late);
  expect(await read(late.id)).toMatchObject({ status: "pending", lease_token: next?.lease_token, generation: 0 });
  expect(driver.calls.get("start") ?? 0).toBe(0);
});

test("the readiness that a late worker measured does not count", async () => {
  const { db, rent, read, deps, pass, recorded } = await setupEnvironments();
  const id = await rent();
  await pass({ isReady: async () => false });
  const lease = async () => {
    await sql`update environments set due_at = now(), lease_expires_at = case when lease_token is not null then now() end`.execute(
      db,
    );
    return (await fetchEnvironments(db, ["host"], 1, sql`true`))[0];
  };
  const [late, next] = [await lease(), await lease()];
  if (late) await reconcile(deps, late);
  expect(await read(id)).toMatchObject({ status: "pending", created_at: null, lease_token: next?.lease_token });
  expect(await db.selectFrom("sessions").selectAll().execute()).toEqual([]);
  if (next) await reconcile(deps, next);
  expect(await read(id)).toMatchObject({ status: "active", lease_token: null });
  expect(recorded.delivered).toEqual([id, id]);
});

test("a worker does not overwrite what its owner requested meanwhile", async () => {
  const { db, rent, read, reach, deps, pass, driver, recorded } = await setupEnvironments();
  const id = await rent();
  await pass({ isReady: async () => false });
  await sql`update environments set due_at = now()`.execute(db);
  const [claimed] = await fetchEnvironments(db, ["host"], 1, sql`true`);
  await sql`update environments set desired = 'terminated', ended_reason = 'cancelled' where id = ${id}`.execute(db);
  if (claimed) await reconcile(deps, claimed);
  expect(await read(id)).toMatchObject({ status: "pending", created_at: null, lease_token: null });
  await reach(id, "terminated");
  expect(recorded.undelivered).toEqual([`${id}:cancelled`]);
  expect(await driver.list()).toEqual([]);
});

test("of several unchanged rows in one write, only those with the same lease and desired state are settled", async () => {
  const { db, rent, read, reach, deps, recorded } = await setupEnvironments();
  const ids = await Promise.all(Array.from({ length: 4 }, (_, index) => rent({ userId: `user-${index}` })));
  for (const id of ids) await reach(id, "active");
  await sql`update environments set due_at = now()`.execute(db);
  const claimed = await fetchEnvironments(db, ["host"], 4, sql`true`);
  const [same = "", claimedAgain = "", wanted = "", ending = ""] = claimed.map(({ id }) => id);
  await sql`update environments set lease_token = gen_random_uuid() where id = ${claimedAgain}`.execute(db);
  await sql`update environments set desired = 'stopped' where id = ${wanted}`.execute(db);
  await sql`update environments set expires_at = now() + interval '5 seconds' where id = ${ending}`.execute(db);
  const before = await read(claimedAgain);
  const began = Date.now();
  await Promise.all(claimed.map((row) => reconcile(deps, row)));
  const waitMs = async (id: string) => (await read(id)).due_at.getTime() - began;
  expect(await read(same)).toMatchObject({ lease_token: null, desired: "running" });
  expect(await waitMs(same)).toBeGreaterThanOrEqual(20_000);
  expect(await read(claimedAgain)).toEqual(before);
  expect(await read(wanted)).toMatchObject({ lease_token: null, desired: "stopped" });
  expect(await waitMs(wanted), "asked for meanwhile: at once").toBeLessThan(5000);
  expect(await read(ending)).toMatchObject({ lease_token: null });
  expect(await waitMs(ending), "never later than its end").toBeLessThanOrEqual(5000);
  expect(recorded.failures).toEqual([]);
});

test("a stop that completes after the expiry ends the environment instead of banking nothing", async () => {
  const { db, rent, read, reach, deps } = await setupEnvironments();
  const id = await rent();
  await reach(id, "active");
  await sql`update environments set desired = 'stopped', due_at = now()`.execute(db);
  const [claimed] = await fetchEnvironments(db, ["host"], 1, sql`true`);
  await sql`update environments set expires_at = now()`.execute(db);
  if (claimed) await reconcile(deps, claimed);
  await reach(id, "terminated");
  expect(await read(id)).toMatchObject({ ended_reason: "expired", banked_seconds: 0 });
});
