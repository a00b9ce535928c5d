import { sql } from "kysely";
import { expect, test } from "vitest";
import { act } from "../../environments/api/environment-actions.ts";
import { setup as money } from "../testing/setup.ts";

/** A running environment: two GPUs for six hours, USD 2.40. Its machine can be broken. */
async function setup() {
  const shop = await money();
  const { db, order, pay, create, driver, runReconciler, environments } = shop;
  runReconciler();
  const { id } = (await order("ada", { duration: 6 })).body;
  expect((await create("ada", (await pay(id)).body, { duration: 6 })).body.status).toBe("active");
  const environment = async () => (await environments())[0] as Awaited<ReturnType<typeof environments>>[number];
  return {
    ...shop,
    id,
    environment,
    /** Ends its run and lets the next starts fail. */
    async lose(times = 1000) {
      driver.failNext("start", "unavailable", times);
      await driver.crash((await environment()).id);
      await expect.poll(async () => (await environment()).fault_since).not.toBeNull();
    },
    /** Backdates the failure; half of the six hours were left then. */
    async later(minutes: number) {
      await sql`update environments set down_since = now() - make_interval(mins => ${minutes}),
        fault_since = now() - make_interval(mins => ${minutes}),
        give_up_at = now() - make_interval(mins => ${minutes - 10}), due_at = now(), lease_token = null, lease_expires_at = null,
        expires_at = case when expires_at is not null then now() - make_interval(mins => ${minutes}) + interval '3 hours' end`.execute(
        db,
      );
    },
    sum: async () =>
      (
        await db
          .selectFrom("journal_lines")
          .select(sql<number>`sum(amount_minor)`.as("sum"))
          .where("account", "=", "revenue")
          .executeTakeFirst()
      )?.sum,
  };
}

test("a machine that fails for ten minutes ends the rental and pays back the time that could not be used", async () => {
  const { id, lose, later, environment, refundsOf, rowOf, openLeases, runRefundSender, sum, db } = await setup();
  await lose();
  await later(11);
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  expect((await environment()).ended_reason).toBe("hardware");
  expect(await refundsOf()).toMatchObject([{ reason: "hardware", amount_minor: 120, currency: "USD" }]);
  expect(await rowOf(id)).toMatchObject({ status: "fulfilled", usd_net_minor: 120 });
  expect([await openLeases(), await sum()]).toEqual([[], -120]);
  runRefundSender();
  await expect.poll(async () => (await refundsOf())[0]?.status).toBe("processed");
  const notified = await db
    .selectFrom("notifications")
    .select(["title", "body"])
    .where("cause", "like", "refund:%")
    .execute();
  expect(notified).toMatchObject([{ title: "Refund started", body: expect.stringContaining("The machine failed") }]);
});

test("time that ran out while the host did not answer is paid back from when it did not", async () => {
  const { environment, refundsOf, db } = await setup();
  await sql`update environments set status = 'unknown', down_since = now() - interval '3 hours', fault_since = now() - interval '3 hours',
    expires_at = now() - interval '1 hour', due_at = now(), lease_token = null, lease_expires_at = null`.execute(db);
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  expect((await environment()).ended_reason).toBe("expired");
  expect(await refundsOf()).toMatchObject([{ reason: "hardware", amount_minor: 80 }]);
});

test("back within ten minutes nothing is refunded, and the next failure starts a new count", async () => {
  const { lose, later, environment, refundsOf } = await setup();
  await lose(2);
  await later(9);
  await expect.poll(async () => (await environment()).status, { timeout: 15_000 }).toBe("active");
  expect((await environment()).down_since).toBeNull();
  expect(await refundsOf()).toEqual([]);
});

test("a restart that never works pays back what was banked", async () => {
  const { environment, db, driver, later, refundsOf } = await setup();
  const { id } = await environment();
  await db.updateTable("environments").set({ desired: "stopped", due_at: sql`now()` }).execute();
  await expect.poll(async () => (await environment()).status).toBe("stopped");
  await db
    .updateTable("environments")
    .set({ banked_seconds: 5 * 3600 })
    .execute();
  driver.failNext("start", "no_image", 1000);
  await act(db, { id, userId: "ada" }, "restart");
  await expect.poll(async () => (await environment()).fault_since).not.toBeNull();
  await later(11);
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  expect(await refundsOf()).toMatchObject([{ reason: "hardware", amount_minor: 200 }]);
});
