import { hoursOfCredit } from "@berth/contract";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { openDatabase } from "../../database/database.ts";
import { databaseBefore } from "../../database/testing.ts";
import { silentLogger } from "../../logging/create-logger.ts";
import { grantRefund } from "../refunds/grant-refund.ts";
import { setup as money } from "../testing/setup.ts";

/** Payments with a running reconciler; `fake` decides how long starts are silent. */
async function setup(fake: Readonly<Record<string, number>> = {}, giveUpAfterSeconds = 600) {
  const shop = await money({ fake, giveUpAfterSeconds, caps: { gpusPerUser: 64, launchesPerUser: 10 }, slots: 32 });
  const { db, order, pay, create, runReconciler, rowOf } = shop;
  runReconciler();
  /** Backdates the start of an order's container; returns the number of changed rows. */
  const tenMinutes = async (orderId: string) => {
    const { rows } = await sql`
      with aged as (
        update environments set requested_at = now() - interval '11 minutes', give_up_at = now(), due_at = now(), lease_token = null, lease_expires_at = null
        where order_id = ${orderId} and stage = 'answering' returning id)
      update launch_stages s set at = now() - interval '10 minutes' from aged
      where environment_id = aged.id and stage = 'started' returning id`.execute(db);
    return rows.length;
  };
  const credits = () => db.selectFrom("time_credits").selectAll().orderBy("granted_at").execute();
  return {
    ...shop,
    credits,
    tenMinutes,
    /** Waits until the order is no longer `paid`, and returns its row. */
    async launch(userId: string, subdomain: string, gpu_count: 1 | 2 | 4 | 6 | 8 = 2) {
      const { id } = (await order(userId, { subdomain, gpu_count })).body;
      const created = create(userId, (await pay(id)).body, { subdomain, gpu_count });
      if (fake["silent"]) {
        const orderId = (await rowOf(id)).id;
        await expect.poll(() => tenMinutes(orderId), { timeout: 20_000 }).toBe(1);
      }
      await created;
      await expect.poll(async () => (await rowOf(id)).status, { timeout: 20_000 }).not.toBe("paid");
      return await rowOf(id);
    },
    refundsFor: async (orderId: string) =>
      (
        await sql<{ reason: string; amount_minor: number }>`
          select r.reason, r.amount_minor from refunds r join payments p on p.id = r.payment_id where p.order_id = ${orderId}`.execute(
          db,
        )
      ).rows,
  };
}

test("G106, G107 a launch that stays silent is refunded once for an account, without a credit; then a person decides", async () => {
  const { launch, refundsFor, credits, db, payments, environments } = await setup({ silent: 1 });
  const first = await launch("ada", "first");
  expect(first.status).toBe("refunding");
  expect(await refundsFor(first.id)).toEqual([{ reason: "silent", amount_minor: 40 }]);
  expect(await credits()).toEqual([]);
  const second = await launch("ada", "second");
  expect(second).toMatchObject({ status: "fulfilled", hours: 1 });
  expect(await refundsFor(second.id)).toEqual([]);
  const kept = (await environments()).find(({ order_id }) => order_id === second.id);
  expect(kept).toMatchObject({ status: "stopped", stop_reason: "silent", banked_seconds: 3600 });
  expect(await db.selectFrom("refund_requests").selectAll().execute()).toMatchObject([
    {
      order_id: second.id,
      status: "open",
      reason: "silent",
      text: expect.stringContaining("JupyterLab never answered"),
    },
  ]);
  const { announce } = payments;
  await grantRefund(
    { db, announce, author: { actor: "cli:test", reason: "" }, orderId: second.id, message: "" },
    "full",
  );
  expect(await refundsFor(second.id)).toEqual([{ reason: "discretionary", amount_minor: 40 }]);
  expect((await launch("ben", "other")).status, "another account").toBe("refunding");
});

test("G106, G332 a silent launch that a code covers is kept with all the hours that it took, also beyond a week", async () => {
  const { launch, tenMinutes, post, request, db, environments, payments } = await setup({ silent: 1 });
  await launch("ada", "first");
  await sql`insert into granted_credits (id, user_id, gpu_hours, source, note, alone)
    values ('of-a-code', 'ada', 170.5, 'voucher', '', true)`.execute(db);
  const container_request = { ...request("ada"), subdomain: "second", gpu_count: 1 };
  const launched = post("/credits/launch", "ada", { container_request });
  const ofCode = () => db.selectFrom("orders").selectAll().where("gateway", "=", "credit").executeTakeFirst();
  await expect.poll(async () => tenMinutes((await ofCode())?.id ?? ""), { timeout: 20_000 }).toBe(1);
  await launched;
  await expect.poll(async () => (await ofCode())?.status, { timeout: 20_000 }).toBe("fulfilled");
  const order = await ofCode();
  expect(order?.hours).toBe(170.5);
  const kept = (await environments()).find(({ order_id }) => order_id === order?.id);
  expect(kept).toMatchObject({ status: "stopped", stop_reason: "silent", banked_seconds: 170.5 * 3600 });
  const decision = { db, announce: payments.announce, author: { actor: "cli:test", reason: "" }, message: "" };
  await expect(grantRefund({ ...decision, orderId: order?.id ?? "" }, "full")).rejects.toThrow("no money was paid");
});

test("G107 two farmed launches earn no credit", async () => {
  const { launch, credits, environments } = await setup({ silent: 1 });
  await launch("ada", "one", 1);
  await launch("ada", "two", 1);
  expect(await credits()).toEqual([]);
  expect((await environments()).map(({ ended_reason }) => ended_reason)).toEqual(["silent", null]);
});

test("G107 an undelivered order earns GPU-hours once, which the next order uses", async () => {
  const fake = { fail: 1 };
  const { launch, credits, db } = await setup(fake, 2);
  expect((await launch("ada", "one", 2)).status).toBe("refunding");
  expect((await launch("ada", "two", 8)).status).toBe("refunding");
  expect(await credits()).toMatchObject([{ gpu_hours: 4, used_by_order: null }]);
  fake.fail = 0;
  expect((await launch("ada", "three", 6)).hours).toBeCloseTo(1 + 40 / 60, 2);
  expect(await credits()).toMatchObject([{ used_by_order: expect.any(String) }]);
  const notified = await db
    .selectFrom("notifications")
    .select(["title", "body"])
    .where("cause", "like", "bonus:%")
    .execute();
  expect(notified).toEqual([{ title: "40m added", body: "The GPU-hours we owed you are 40m of three." }]);
});

test("G107 a credit is whole minutes of the next environment, rounded up", () => {
  const minutes = (gpuHours: number, gpus: number) => Math.round(hoursOfCredit(gpuHours, gpus) * 60);
  expect([minutes(2, 1), minutes(2, 2), minutes(2, 6), minutes(2, 8), minutes(16, 6), minutes(2, 7)]).toEqual([
    120, 60, 20, 15, 160, 18,
  ]);
});

test("G107 older credits become GPU-hours of their orders, and several open ones of an account become one", async () => {
  const { client, connection } = await databaseBefore("0029");
  await client.query(`
    insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
        currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, hold_until, watch_until, paid_at)
      select id, 'ada', 'refunded', 'jupyter', 'lab', gpus, 1, 20, 20, 'USD', 8822, 'embedded', 'test', 'order_' || id, '', now(), now(), now()
      from (values ('one', 1), ('two', 2), ('eight', 8)) o (id, gpus);
    insert into time_credits (id, user_id, order_id, hours, reason, used_by_order, granted_at) values
      ('a', 'ada', 'one', 2, 'not_delivered', 'two', now() - interval '3 days'),
      ('b', 'ada', 'two', 2, 'not_delivered', null, now() - interval '2 days'),
      ('c', 'ada', 'eight', 2, 'not_delivered', null, now() - interval '1 day')`);
  await client.end();
  const { db, close } = await openDatabase(connection, silentLogger);
  onTestFinished(close);
  const rows = await db.selectFrom("time_credits").select(["id", "gpu_hours", "used_by_order"]).orderBy("id").execute();
  expect(rows).toEqual([
    { id: "a", gpu_hours: 2, used_by_order: "two" },
    { id: "b", gpu_hours: 20, used_by_order: null },
  ]);
});
