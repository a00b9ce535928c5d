import { sql } from "kysely";
import { expect, test } from "vitest";
import { brokenInvariants } from "../ledger/invariants.ts";
import { delivery } from "../settlement/delivery.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { setup } from "../testing/setup.ts";

/** A payment to be refunded: captured with one cent less than the order. */
async function owed(options: Parameters<typeof setup>[0] = {}) {
  const world = await setup(options);
  const { id } = (await world.order("ada")).body;
  const paymentId = await world.addPayment(id, { amount_minor: 39 });
  await settlePayment(world.payments, await world.provider.payment(paymentId));
  const atGateway = () => world.db.selectFrom("embedded_gateway_refunds").selectAll().execute();
  return { ...world, id, paymentId, atGateway };
}

test("a refund is sent once and polled to its end, and the buyer is notified of both", async () => {
  const { runRefundSender, rowOf, id, refundsOf, atGateway, db } = await owed();
  runRefundSender();
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  const [refund] = await refundsOf();
  const [sent] = await atGateway();
  expect(refund).toMatchObject({
    status: "processed",
    gateway_refund_id: sent?.id,
    due_at: null,
    arn: expect.any(String),
  });
  expect(sent).toMatchObject({ amount_minor: 39, idempotency_key: refund?.id });
  expect(await atGateway()).toHaveLength(1);
  const titles = await db.selectFrom("notifications").select("title").orderBy("created_at").execute();
  expect(titles.map(({ title }) => title)).toEqual(["Refund started", "Refund sent"]);
});

test("a failed refund that arrives after all locks its order before the payment", async () => {
  const { wake, db, runRefundSender, rowOf, id, refundsOf } = await owed();
  await db.updateTable("embedded_gateway_orders").set({ outcome: "refund_failed" }).execute();
  runRefundSender();
  await expect.poll(async () => (await refundsOf())[0]?.status).toBe("failed");
  await db.updateTable("embedded_gateway_refunds").set({ fails: false }).execute();
  const order = await rowOf(id);
  await db.transaction().execute(async (tx) => {
    await sql`select 1 from orders where id = ${order.id} for update`.execute(tx);
    await db.updateTable("refunds").set({ due_at: sql`now()` }).execute();
    wake();
    const waiting = sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await waiting.execute(db)).rows.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await sql`select 1 from payments for update nowait`.execute(tx);
  });
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
});

test("C17 killed after the refund call, before its response is stored: the same key, the same refund", async () => {
  const { provider, paymentId, refundsOf, runRefundSender, rowOf, id, atGateway } = await owed();
  const [refund] = await refundsOf();
  await provider.refund({ paymentId, amountMinor: 39, key: refund?.id ?? "", notes: { reason: "wrong_amount" } });
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  expect(await atGateway()).toHaveLength(1);
});

test("C36 refunded already in the dashboard without our key: recorded, not refunded twice", async () => {
  const { provider, paymentId, runRefundSender, rowOf, id, atGateway, refundsOf } = await owed();
  await provider.refund({ paymentId, amountMinor: 39, key: "the-dashboard", notes: {} });
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  const [theirs] = await atGateway();
  expect(await refundsOf()).toMatchObject([{ gateway_refund_id: theirs?.id, status: "processed" }]);
  expect(await atGateway()).toHaveLength(1);
});

test("C36 the balance is too low, or the payment too old: the refund stays owed and due, and a later try sends it", async () => {
  const { wake, db, runRefundSender, refundsOf, rowOf, id, errors } = await owed();
  await db.updateTable("embedded_gateway_orders").set({ outcome: "refund_refused" }).execute();
  runRefundSender();
  await expect.poll(() => errors.length).toBe(1);
  await expect.poll(async () => (await refundsOf())[0]?.lease_token).toBe(null);
  const [refund] = await refundsOf();
  expect(refund).toMatchObject({ status: "queued", last_error: expect.stringContaining("enough balance") });
  expect(refund?.due_at?.getTime()).toBeGreaterThan(Date.now() + 23 * 3_600_000);
  await db.updateTable("embedded_gateway_orders").set({ outcome: null }).execute();
  await db.updateTable("refunds").set({ due_at: sql`now()` }).execute();
  wake();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
});

test("C36 409, still in progress: retried under the same key, one refund", async () => {
  const { db, runRefundSender, rowOf, id, atGateway, errors } = await owed();
  await db.updateTable("embedded_gateway_orders").set({ outcome: "refund_busy" }).execute();
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  expect(errors.map(String)).toEqual([expect.stringContaining("in progress")]);
  expect(await atGateway()).toHaveLength(1);
});

test("C36 accepted, then failed on its way: the money is owed again, kept due, and named as failed", async () => {
  const { db, runRefundSender, rowOf, id, refundsOf } = await owed();
  await db.updateTable("embedded_gateway_orders").set({ outcome: "refund_failed" }).execute();
  runRefundSender();
  await expect.poll(async () => (await refundsOf())[0]?.status).toBe("failed");
  const [refund] = await refundsOf();
  expect(refund?.due_at?.getTime()).toBeGreaterThan(Date.now() + 23 * 3_600_000);
  expect((await rowOf(id)).status).toBe("refunding");
  expect(await db.selectFrom("payments").select("refund_minor").execute()).toEqual([{ refund_minor: 0 }]);
  const payable = sql<{
    sum: number;
  }>`select coalesce(sum(amount_minor), 0) as sum from journal_lines where account = 'refunds_payable'`;
  expect((await payable.execute(db)).rows).toEqual([{ sum: 0 }]);
});

test("C36 failed after it was processed: owed again, notified, and sent again; a late report of the failure changes nothing", async () => {
  const { wake, db, runRefundSender, runWebhookProcessor, rowOf, id, paymentId, refundsOf } = await owed();
  runRefundSender();
  runWebhookProcessor();
  await expect.poll(async () => (await rowOf(id)).status).toBe("refunded");
  const [sent] = await refundsOf();
  const tell = async (event_id: string) => {
    const payload = { refund: { entity: { id: sent?.gateway_refund_id, payment_id: paymentId } } };
    const row = {
      gateway: "embedded",
      event_id,
      event: "refund.failed",
      body: Buffer.from(JSON.stringify({ payload })),
    };
    await db.insertInto("gateway_events").values(row).execute();
    const event = db.selectFrom("gateway_events").select("processed_at").where("event_id", "=", event_id);
    await expect.poll(async () => (await event.executeTakeFirst())?.processed_at).not.toBe(null);
  };
  await tell("too late");
  expect(await refundsOf()).toMatchObject([{ status: "processed" }]);

  await db.updateTable("embedded_gateway_refunds").set({ fails: true }).execute();
  await db.updateTable("embedded_gateway_payments").set({ refunded_minor: 0 }).execute();
  await tell("returned");
  await tell("returned, told again");
  const [returned] = await refundsOf();
  expect(returned).toMatchObject({ status: "failed", processed_at: null, last_error: expect.stringContaining("bank") });
  expect(await db.selectFrom("payments").select("refund_minor").execute()).toEqual([{ refund_minor: 0 }]);
  expect(await brokenInvariants(db)).toEqual([]);
  const titles = db.selectFrom("notifications").select("title").where("title", "like", "%came back");
  expect(await titles.execute()).toHaveLength(1);

  await db.updateTable("embedded_gateway_refunds").set({ fails: false }).execute();
  await db.updateTable("refunds").set({ due_at: sql`now()` }).execute();
  wake();
  await expect.poll(async () => (await refundsOf())[0]?.status, { timeout: 10_000 }).toBe("processed");
  expect(await db.selectFrom("payments").select("refund_minor").execute()).toEqual([{ refund_minor: 39 }]);
});

test("cancelled while pending: full refund, no credit, and asking twice owes once", async () => {
  const { order, pay, payments, provider, rowOf, refundsOf, db } = await setup();
  const { id } = (await order("ada")).body;
  await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
  const { delivered, undelivered } = delivery({ announce: payments.announce });
  const environment = { id: "e", orderId: (await rowOf(id)).id, userId: "ada" };
  const race = await Promise.all([
    db.transaction().execute((tx) => undelivered(tx, environment, "cancelled")),
    db.transaction().execute((tx) => undelivered(tx, environment, "not_delivered")),
    db.transaction().execute((tx) => delivered(tx, environment)),
  ]);
  const won = (await rowOf(id)).status;
  expect(race[2] === undefined).toBe(won === "refunding");
  // The reconciler does this in the same transaction.
  if (won === "refunding") await db.updateTable("environments").set({ desired: "terminated" }).execute();
  expect(await refundsOf()).toHaveLength(won === "refunding" ? 1 : 0);
  expect(await db.transaction().execute((tx) => delivered(tx, environment))).toBe(undefined);
});

test("cancelled while pending by its owner: no credit; not delivered: one of two hours", async () => {
  const { order, pay, payments, provider, rowOf, runReconciler, db } = await setup();
  const ids: string[] = [];
  for (const [userId, ended_reason] of [
    ["ada", "cancelled"],
    ["ben", "not_delivered"],
  ] as const) {
    const { id } = (await order(userId)).body;
    await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
    await db
      .updateTable("environments")
      .set({ desired: "terminated", ended_reason, due_at: sql`now()` })
      .where("user_id", "=", userId)
      .execute();
    ids.push(id);
  }
  // Only now: a running one would deliver the second order before its end is written.
  runReconciler();
  for (const id of ids) await expect.poll(async () => (await rowOf(id)).status).toBe("refunding");
  const credits = await db.selectFrom("time_credits").select(["user_id", "gpu_hours"]).execute();
  expect(credits).toEqual([{ user_id: "ben", gpu_hours: 4 }]);
});

test("a share of the price is rounded down", async () => {
  const { order, pay, create, payments, runReconciler, rowOf, refundsOf, environments, db } = await setup();
  const { id } = (await order("ada")).body;
  runReconciler();
  await create("ada", (await pay(id)).body);
  const [environment] = await environments();
  const row = await rowOf(id);
  const { ended } = delivery({ announce: payments.announce });
  const about = { id: environment?.id ?? "", orderId: row.id, userId: "ada" };
  await db.transaction().execute((tx) => ended(tx, about, 1234));
  expect(await refundsOf()).toMatchObject([{ reason: "hardware", amount_minor: 13 }]);
  expect((await rowOf(id)).usd_net_minor).toBe(27);
});

test("refunds of other keys are never sent", async () => {
  const { db, runRefundSender, refundsOf, atGateway, order, addPayment, payments, provider } = await owed();
  await db.updateTable("orders").set({ gateway: "razorpay", mode: "test" }).execute();
  const other = (await order("ben")).body.id;
  await settlePayment(payments, await provider.payment(await addPayment(other, { amount_minor: 39 })));
  runRefundSender();
  await expect.poll(async () => (await refundsOf()).map(({ status }) => status)).toEqual(["queued", "processed"]);
  expect((await refundsOf())[0]?.attempts).toBe(0);
  expect(await atGateway()).toHaveLength(1);
});

test("a partial refund in the dashboard does not replace the rest that is owed", async () => {
  const { wake, db, order, addPayment, payments, provider, rowOf, runRefundSender, refundsOf, errors } = await setup();
  const { id } = (await order("ada")).body;
  const paymentId = await addPayment(id);
  await provider.refund({ paymentId, amountMinor: 20, key: "the-dashboard", notes: {} });
  await settlePayment(payments, await provider.payment(paymentId));
  const refuse = (isRefused: boolean) =>
    db
      .updateTable("embedded_gateway_payments")
      .set({ refunded_minor: isRefused ? 40 : 20 })
      .execute();
  expect((await refundsOf()).map(({ reason, amount_minor }) => `${reason} ${amount_minor}`).sort()).toEqual([
    "external 20",
    "late_payment 20",
  ]);
  await refuse(true);
  runRefundSender();
  await expect.poll(() => errors.length).toBe(1);
  await refuse(false);
  await db.updateTable("refunds").set({ due_at: sql`now()` }).where("status", "<>", "processed").execute();
  wake();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  const sent = await db.selectFrom("embedded_gateway_refunds").select("amount_minor").execute();
  expect(sent).toEqual([{ amount_minor: 20 }, { amount_minor: 20 }]);
});
