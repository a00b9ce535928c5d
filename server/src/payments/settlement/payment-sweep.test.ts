import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../../database/database.ts";
import { setup } from "../testing/setup.ts";
import { settlePayment } from "./settle-payment.ts";

/** Ada's order of a week ago: expired, no longer polled, and paid only now, with every webhook lost. */
async function paidAfterAll(options: Parameters<typeof setup>[0] = {}) {
  const world = await setup(options);
  const { id } = (await world.order("ada")).body;
  await world.clear("ada", id);
  await sql`update orders set status = 'expired', created_at = now() - interval '7 days', hold_until = now() - interval '7 days',
    watch_until = now() - interval '2 days', due_at = null`.execute(world.db);
  await world.pay(id);
  return { ...world, id, ...swept(world.db) };
}

function swept(db: Db) {
  return {
    events: () => db.selectFrom("gateway_events").selectAll().orderBy("event_id").execute(),
    cursor: () => db.selectFrom("gateway_sweeps").selectAll().executeTakeFirstOrThrow(),
    async done() {
      const waiting = db
        .selectFrom("gateway_sweeps")
        .select("key_id")
        .where("due_at", ">", sql<Date>`now() + interval '5 minutes'`);
      await expect.poll(async () => (await waiting.execute()).length).toBe(1);
    },
    /** Makes the sweep due. */
    makeDue: () => db.updateTable("gateway_sweeps").set({ due_at: sql`now()` }).execute(),
  };
}

test("without webhook and poll the sweep finds a payment, it is delivered, and a second sweep does nothing", async () => {
  const {
    id,
    runPaymentSweep,
    runWebhookProcessor,
    runOrderPoller,
    runReconciler,
    rowOf,
    environments,
    events,
    done,
    makeDue,
    db,
  } = await paidAfterAll();
  runOrderPoller();
  runWebhookProcessor();
  runReconciler();
  expect((await rowOf(id)).status).toBe("expired");
  runPaymentSweep();
  await expect.poll(async () => (await rowOf(id)).status).toBe("fulfilled");
  await done();
  await makeDue();
  runPaymentSweep();
  await done();
  expect((await events()).map(({ event, attempts }) => [event, attempts])).toEqual([["payment.swept", 1]]);
  expect(await environments()).toMatchObject([{ user_id: "ada", status: "active" }]);
  expect(await db.selectFrom("payments").selectAll().execute()).toHaveLength(1);
});

test("found by the sweep when the GPUs are taken: refunded in full, once", async () => {
  const {
    id,
    order,
    runPaymentSweep,
    runWebhookProcessor,
    runRefundSender,
    rowOf,
    refundsOf,
    environments,
    done,
    makeDue,
  } = await paidAfterAll({ slots: 2 });
  expect((await order("ben")).status).toBe(200);
  runWebhookProcessor();
  runRefundSender();
  runPaymentSweep();
  await expect.poll(async () => (await rowOf(id)).status).toBe("refunded");
  await done();
  await makeDue();
  runPaymentSweep();
  await done();
  expect(await refundsOf()).toMatchObject([{ reason: "late_payment", amount_minor: 40, status: "processed" }]);
  expect(await environments()).toEqual([]);
});

test("250 payments are read in pages of 100; those without money, or already recorded, are ignored", async () => {
  const world = await setup();
  const { db, provider, payments, order, pay, runPaymentSweep } = world;
  const { events, done } = swept(db);
  const { id } = (await order("ada")).body;
  const known = (await pay(id)).body.razorpay_payment_id;
  await payments.db.transaction().execute(async (tx) => {
    await sql`insert into embedded_gateway_orders (id, amount_minor, currency, capture) values ('order_stray', 40, 'USD', 'automatic')`.execute(
      tx,
    );
    await sql`insert into embedded_gateway_payments (id, order_id, amount_minor, currency, status, card_network, card_last4)
      select 'pay_' || n, 'order_stray', 40, 'USD', case when n <= 240 then 'captured' when n <= 245 then 'failed' else 'created' end, 'Visa', '1111'
      from generate_series(1, 250) n`.execute(tx);
  });
  await settlePayment(payments, await provider.payment(known));
  const { paymentsBetween } = provider;
  const pages: number[] = [];
  Object.assign(provider, {
    paymentsBetween: (window: Parameters<typeof paymentsBetween>[0]) => {
      pages.push(window.skip);
      return paymentsBetween(window);
    },
  });
  runPaymentSweep();
  await done();
  expect(pages).toEqual([0, 100, 200]);
  const notified = await events();
  expect(notified).toHaveLength(240);
  expect(notified.map(({ event_id }) => event_id)).not.toContain(`sweep-${known}-captured-0`);
});

test("after a day of downtime the sweep covers that day in slices, and continues where it was interrupted", async () => {
  const world = await paidAfterAll();
  const { db, provider, runPaymentSweep, events, cursor, done, makeDue, errors } = world;
  const ago = async (hours: number) =>
    (await sql<{ at: Date }>`select now() - make_interval(hours => ${hours}) as at`.execute(db)).rows[0]?.at ??
    new Date();
  await sql`insert into gateway_sweeps (key_id, swept_until) values (${provider.keyId}, now() - interval '30 hours')`.execute(
    db,
  );
  await sql`update embedded_gateway_payments set created_at = now() - interval '30 hours 20 minutes'`.execute(db);
  const { paymentsBetween } = provider;
  let calls = 0;
  Object.assign(provider, {
    paymentsBetween: (window: Parameters<typeof paymentsBetween>[0]) =>
      ++calls === 2 ? Promise.reject(new Error("gone")) : paymentsBetween(window),
  });
  runPaymentSweep();
  await expect.poll(() => errors.map(String)).toEqual(["Error: gone"]);
  expect(await events()).toHaveLength(1);
  const { swept_until } = await cursor();
  expect(Math.abs(swept_until.getTime() - (await ago(7)).getTime())).toBeLessThan(60_000);
  await makeDue();
  runPaymentSweep();
  await done();
  expect((await cursor()).swept_until.getTime()).toBeGreaterThan((await ago(1)).getTime());
  expect([calls, await events()]).toMatchObject([3, [{ event: "payment.swept" }]]);
});

test("a refund made elsewhere is found too, and sweeps of other keys are separate", async () => {
  const { id, provider, runPaymentSweep, runWebhookProcessor, rowOf, db, events } = await paidAfterAll();
  const theirs = { key_id: "rzp_live_other", swept_until: new Date("2020-01-01"), due_at: new Date("2020-01-01") };
  await db.insertInto("gateway_sweeps").values(theirs).execute();
  runWebhookProcessor();
  runPaymentSweep();
  await expect.poll(async () => (await rowOf(id)).status).toBe("paid");
  const payment = await db.selectFrom("payments").select("gateway_payment_id").executeTakeFirstOrThrow();
  await provider.refund({ paymentId: payment.gateway_payment_id, amountMinor: 15, key: "the-dashboard", notes: {} });
  await db.updateTable("gateway_sweeps").set({ due_at: sql`now()` }).where("key_id", "=", provider.keyId).execute();
  runPaymentSweep();
  await expect.poll(async () => (await rowOf(id)).usd_net_minor).toBe(25);
  expect(await events()).toHaveLength(2);
  expect(
    await db.selectFrom("gateway_sweeps").selectAll().where("key_id", "=", "rzp_live_other").execute(),
  ).toMatchObject([theirs]);
});
