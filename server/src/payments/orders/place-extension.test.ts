import { defaultPrices, major, quote } from "@berth/contract";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { delivery } from "../settlement/delivery.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { setup as money } from "../testing/setup.ts";

/** A running environment of ada's: two GPUs for one hour. */
async function setup() {
  const shop = await money();
  const { db, order, pay, create, post, runReconciler, environments } = shop;
  runReconciler();
  const { id } = (await order("ada")).body;
  expect((await create("ada", (await pay(id)).body)).body.status).toBe("active");
  const [first] = await environments();
  if (!first) throw new Error("nothing was launched");
  const amount = (hours: number) => major(quote(defaultPrices, 2, hours, "USD").amountMinor);
  return {
    ...shop,
    environment: async () =>
      db.selectFrom("environments").selectAll().where("id", "=", first.id).executeTakeFirstOrThrow(),
    extend: (duration: 1 | 6 = 6, userId = "ada", change: object = {}) =>
      post(`/environments/${first.id}/extend`, userId, {
        duration,
        amount: amount(duration),
        currency: "USD",
        ...change,
      }),
    prove: (proof: object, duration: 1 | 6 = 6) => create("ada", proof, { duration }),
    async end() {
      await db.updateTable("environments").set({ desired: "terminated", due_at: sql`now()` }).execute();
      shop.wake();
      await expect.poll(async () => (await environments())[0]?.status).toBe("terminated");
    },
  };
}

const hoursLater = (from: Date | null, to: Date | null) => (Number(to) - Number(from)) / 3_600_000;

test("paid, the hours are added at once, however often it is reported, and nothing is restarted", async () => {
  const { extend, pay, prove, environment, rowOf, payments, provider, openLeases, end, db } = await setup();
  const before = await environment();
  const { status, body } = await extend();
  expect([status, body.amount, body.description]).toEqual([
    200,
    240,
    "More time, Jupyter environment, 2 slots, 6 hours",
  ]);
  expect((await extend()).body.id).toBe(body.id);
  const { body: proof } = await pay(body.id);
  const answers = await Promise.all([prove(proof), prove(proof), prove(proof)]);
  await settlePayment(payments, await provider.payment(proof.razorpay_payment_id));
  for (const answer of answers)
    expect([answer.status, answer.body.message, answer.body.environment_id]).toEqual([
      200,
      "Environment extended",
      before.id,
    ]);
  const after = await environment();
  expect(hoursLater(before.expires_at, after.expires_at)).toBe(6);
  expect([after.generation, after.run_token, after.status]).toEqual([before.generation, before.run_token, "active"]);
  expect(await rowOf(body.id)).toMatchObject({ status: "fulfilled", hours: 6, usd_net_minor: 240, extends: before.id });
  const notified = await db.selectFrom("notifications").select("link").where("cause", "like", "extended:%").execute();
  expect(notified).toEqual([{ link: `/billing/orders/${(await rowOf(body.id)).id}` }]);
  expect(await openLeases()).toHaveLength(2);
  await end();
});

test("while it is stopped the hours are banked; paused, its clock runs on and ends later", async () => {
  const { wake, extend, pay, prove, environment, db } = await setup();
  await db.updateTable("environments").set({ desired: "stopped", due_at: sql`now()` }).execute();
  wake();
  await expect.poll(async () => (await environment()).status).toBe("stopped");
  const before = await environment();
  await prove((await pay((await extend(1)).body.id)).body, 1);
  expect((await environment()).banked_seconds - before.banked_seconds).toBe(3600);
  expect((await environment()).expires_at).toBeNull();
});

test("ended before the payment came: the money goes back, and nothing begins again", async () => {
  const { extend, pay, prove, rowOf, refundsOf, environments, end, runRefundSender } = await setup();
  const { id } = (await extend()).body;
  await end();
  const { status, body } = await prove((await pay(id)).body);
  expect([status, body.code, body.money]).toEqual([409, "not_delivered", "refund_started"]);
  expect(body.message).toBe("The environment could not be extended. Your money is on its way back.");
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status).toBe("refunded");
  expect(await refundsOf()).toMatchObject([{ reason: "late_payment", amount_minor: 240 }]);
  expect(await environments()).toHaveLength(1);
});

test("ended before the payment came, though nobody has looked yet: over by its clock, or being ended", async () => {
  const { extend, pay, prove, environment, db } = await setup();
  const ways = [{ expires_at: sql<Date>`now() - interval '1 second'` }, { desired: "terminated" as const }];
  for (const way of ways) {
    const { id } = (await extend()).body;
    const before = await environment();
    // A look that is under way would make the row due again by its result.
    const noLook = { due_at: new Date("2100-01-01"), lease_token: null, lease_expires_at: null };
    await db
      .updateTable("environments")
      .set({ ...noLook, ...way })
      .execute();
    expect((await prove((await pay(id)).body)).body.money).toBe("refund_started");
    expect((await environment()).duration_hours).toBe(before.duration_hours);
    await db.updateTable("environments").set({ expires_at: before.expires_at }).execute();
  }
});

test("a failure of the machine pays back a share of hours that were bought later too", async () => {
  const { extend, pay, prove, environment, payments, refundsOf, db } = await setup();
  await prove((await pay((await extend()).body.id)).body);
  const { id, order_id } = await environment();
  const { ended } = delivery({ announce: payments.announce });
  const about = { id, orderId: order_id, userId: "ada" };
  await db.transaction().execute((tx) => ended(tx, about, 3.5 * 3600));
  const owed = (await refundsOf()).map(({ reason, amount_minor }) => `${reason} ${amount_minor}`).sort();
  expect(owed).toEqual(["hardware 120", "hardware 20"]);
});

test("paid back in the dashboard, it ends that much earlier and not at once", async () => {
  const { extend, pay, prove, environment, provider, payments, rowOf } = await setup();
  const before = await environment();
  const { id } = (await extend()).body;
  const { body: proof } = await pay(id);
  await prove(proof);
  await provider.refund({ paymentId: proof.razorpay_payment_id, amountMinor: 240, key: "the-dashboard", notes: {} });
  await settlePayment(payments, await provider.payment(proof.razorpay_payment_id));
  const after = await environment();
  expect([after.status, after.desired, hoursLater(before.expires_at, after.expires_at)]).toEqual([
    "active",
    "running",
    0,
  ]);
  expect((await rowOf(id)).status).toBe("refunded");
});

test("another's, a wrong price, a wrong length and one that has ended are refused, and nothing is ordered", async () => {
  const { extend, end, post, db } = await setup();
  const foreign = await extend(6, "eve");
  const absent = await post(`/environments/${"a".repeat(25)}/extend`, "eve", {
    duration: 6,
    amount: 2.4,
    currency: "USD",
  });
  expect([foreign.status, foreign.body]).toEqual([404, absent.body]);
  expect((await extend(6, "ada", { amount: 0.01 })).body.code).toBe("price_changed");
  expect((await extend(6, "ada", { duration: 2 })).status).toBe(400);
  await end();
  expect((await extend()).body.code).toBe("action_not_allowed");
  expect(await db.selectFrom("orders").selectAll().execute()).toHaveLength(1);
});

test("an order for more time and one for a new environment of the same size are two orders", async () => {
  const { extend, order, rowOf } = await setup();
  const more = (await extend()).body.id;
  const other = (await order("ada", { subdomain: "other-lab", duration: 6 })).body.id;
  expect(other).not.toBe(more);
  expect((await rowOf(more)).status).toBe("cancelled");
  expect((await rowOf(other)).extends).toBeNull();
});
