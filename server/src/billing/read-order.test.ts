import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../database/database.ts";
import { newId } from "../database/new-id.ts";
import { settlePayment } from "../payments/settlement/settle-payment.ts";
import { expectedBy } from "./order-money.ts";
import { readOrder, refundsOf } from "./read-order.ts";
import { setup } from "./testing/setup-order-page.ts";

/** Inserts a further refund of a payment, as the refund sender leaves it. */
async function addRefund(db: Db, paymentId: string, change: Record<string, unknown>) {
  const { id } = await db
    .selectFrom("payments")
    .select("id")
    .where("gateway_payment_id", "=", paymentId)
    .executeTakeFirstOrThrow();
  const row = { id: newId(), payment_id: id, amount_minor: 10, currency: "USD", due_at: new Date(), ...change };
  await db
    .insertInto("refunds")
    .values(row as never)
    .execute();
}

test("paid, late, delivered, extended: every fact with its instant, and the references (G15, G70, G100)", async () => {
  const { db, page, paid, runReconciler, environments, create, pay, post, rowOf } = await setup();
  const { id, proof } = await paid("ada", {}, "INR");
  expect(await page(id)).toMatchObject({
    state: "starting",
    kinds: ["ordered", "paid"],
    money: { place: "held", currency: "INR", charged: 35, refunding: 0, refunded: 0 },
    references: { session: null },
  });
  await db.updateTable("orders").set({ deliver_by: sql`now() - interval '1 second'` }).execute();
  runReconciler();
  expect((await create("ada", proof)).body.status).toBe("active");
  const [environment] = await environments();
  const url = `/environments/${environment?.id}/extend`;
  const more = (await post(url, "ada", { duration: 6, amount: 2.4, currency: "USD" })).body.id;
  await create("ada", (await pay(more)).body, { duration: 6 });

  const { kinds, timeline, ...first } = await page(id);
  const session = await db.selectFrom("sessions").select("id").executeTakeFirstOrThrow();
  const payment = await db
    .selectFrom("payments")
    .select("id")
    .where("gateway_payment_id", "=", proof.razorpay_payment_id)
    .executeTakeFirstOrThrow();
  const number = `INV-${payment.id.slice(0, 11)}`;
  expect(first).toMatchObject({
    ...{ state: "delivered", container_type: "jupyter", subdomain: "lab-ada", gpu_count: 2, duration_hours: 1 },
    ...{ extends: false, list_price: 0.4, amount: 35, currency: "INR", inr_per_usd: 88.22, test_mode: true },
    paid_with: "MasterCard ending in 4444",
    money: { place: "delivered", charged: 35, refunding: 0, refunded: 0, expected_by: null },
    references: { invoice: number, payment: proof.razorpay_payment_id, session: session.id, bank: [] },
    receipts: [number],
  });
  expect(kinds).toEqual(["ordered", "paid", "delivered", "bonus", "extended"]);
  const added = (await rowOf(more)).id;
  expect(timeline).toMatchObject([
    {},
    { amount: 35, currency: "INR", reference: proof.razorpay_payment_id },
    { at: environment?.created_at?.toISOString() },
    { hours: 2 },
    { hours: 6, order_id: added },
  ]);
  for (const { at } of timeline) expect(at).toMatch(/^\d{4}-.*Z$/);

  expect(await page(more)).toMatchObject({
    ...{ state: "delivered", extends: true, amount: 2.4, inr_per_usd: null },
    kinds: ["ordered", "paid", "extended"],
    references: { session: session.id },
    money: { place: "delivered", charged: 2.4 },
  });
});

test("never delivered: the refund is started, then sent with the bank's reference, and hours are owed (G15, G16)", async () => {
  const { db, page, paid, driver, runReconciler, runRefundSender, rowOf, pay, order, create } = await setup();
  driver.failNext("start");
  const { id } = await paid("ada");
  const over = sql<Date>`now() - interval '1 second'`;
  await db.updateTable("environments").set({ first_attempt_at: over, give_up_at: over }).execute();
  runReconciler();
  await expect.poll(async () => (await rowOf(id)).status).toBe("refunding");
  const started = await page(id);
  expect(started).toMatchObject({
    state: "not_delivered",
    kinds: ["ordered", "paid", "not_delivered", "refund_started", "credited", "refund_waiting"],
    money: { place: "refund_started", charged: 0.4, refunding: 0.4, refunded: 0 },
  });
  expect(started.timeline.at(-1)).toMatchObject({ at: null, amount: 0.4, currency: "USD", refund: "not_delivered" });

  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  const refund = await db.selectFrom("refunds").selectAll().executeTakeFirstOrThrow();
  const sent = await page(id);
  expect(sent).toMatchObject({
    state: "not_delivered",
    kinds: ["ordered", "paid", "not_delivered", "refund_started", "credited", "refund_sent"],
    money: { place: "refunded", charged: 0.4, refunding: 0, refunded: 0.4 },
    references: { bank: [refund.arn] },
  });
  expect(sent.timeline.at(-1)).toMatchObject({ at: refund.processed_at?.toISOString(), reference: refund.arn });
  expect(sent.money.expected_by).toBe(expectedBy(refund).toISOString());

  const next = (await pay((await order("ada", { subdomain: "second" })).body.id)).body;
  expect((await create("ada", next, { subdomain: "second" })).body.status).toBe("active");
  const second = await page(next.razorpay_order_id);
  expect(second.kinds).toEqual(["ordered", "paid", "delivered", "credit_used"]);
  expect(second.timeline.at(-1)).toMatchObject({ hours: 2, order_id: sent.id });
  expect((await page(id)).timeline.find(({ kind }) => kind === "credited")).toMatchObject({ order_id: second.id });
});

test("nothing paid yet: attempts have their failure reasons, and undecided ones are being checked", async () => {
  const { page, order, pay, addPayment, payments, provider, clear, db, rowOf } = await setup();
  const { id } = (await order("ada")).body;
  expect(await page(id)).toMatchObject({
    ...{ state: "awaiting_payment", kinds: ["ordered"], paid_with: null, receipts: [] },
    money: { place: "nothing_taken", charged: 0 },
    references: { invoice: null, payment: null, session: null, bank: [] },
  });
  const reasons = { "5305 6200 0005 0001": "insufficient_funds", "5305 6200 0003 0003": "declined" };
  for (const card of Object.keys(reasons)) {
    const { body } = await pay(id, card);
    expect(body.error.code).toBe("BAD_REQUEST_ERROR");
  }
  for (const payment of await provider.paymentsOfOrder(id)) await settlePayment(payments, payment);
  const tried = await page(id);
  expect(tried.kinds, "an attempt is never older than its order").toEqual([
    "ordered",
    "payment_failed",
    "payment_failed",
  ]);
  expect(tried.timeline.flatMap(({ failure }) => failure ?? []).toSorted()).toEqual(Object.values(reasons).toSorted());
  expect(tried).toMatchObject({ money: { place: "nothing_taken" }, receipts: [], paid_with: null });
  expect((await clear("ada", id)).body.cleared).toBe(true);
  expect(await page(id)).toMatchObject({ state: "payment_closed", money: { place: "nothing_taken" } });
  expect((await page(id)).kinds.at(-1)).toBe("payment_closed");

  await settlePayment(payments, await provider.payment(await addPayment(id, { status: "authorized" })));
  expect((await page(id)).money.place).toBe("being_checked");
  await db
    .updateTable("orders")
    .set({ watch_until: sql`now()` })
    .where("id", "=", (await rowOf(id)).id)
    .execute();
  expect((await page(id)).money.place, "what is not captured by then never is").toBe("nothing_taken");
});

test("ids of other users, unknown and malformed ids are not found; the provider's id finds the order too", async () => {
  const { db, order, rowOf } = await setup();
  const { id } = (await order("ada")).body;
  const own = (await rowOf(id)).id;
  expect((await readOrder(db, "ada", id))?.id).toBe(own);
  expect((await readOrder(db, "ada", own))?.id).toBe(own);
  for (const foreign of [id, own]) expect(await readOrder(db, "ben", foreign)).toBeUndefined();
  for (const bad of ["", "x", newId(), "order_", "order_AAAAAAAAAAAAAA", `${own} `, "a".repeat(5000), "'--", "../x"])
    expect(await readOrder(db, "ada", bad), bad).toBeUndefined();
});

test("a hundred failed cards never hide the one that paid, and each read has its index", async () => {
  const { db, paid, page, rowOf } = await setup();
  const { id, proof } = await paid("ada");
  const { id: orderId, created_at } = await rowOf(id);
  const attempt = (index: number) => ({
    ...{ id: newId(), order_id: orderId, user_id: "ada", gateway: "embedded", gateway_payment_id: `pay_${index}` },
    ...{ status: "failed" as const, amount_minor: 40, currency: "USD", error_reason: "card_declined" },
    created_at: new Date(created_at.getTime() + index * 1000),
  });
  await db
    .insertInto("payments")
    .values(Array.from({ length: 120 }, (_, index) => attempt(index)))
    .execute();
  const { timeline, references, money: where } = await page(id);
  expect(timeline.filter(({ kind }) => kind === "payment_failed")).toHaveLength(99);
  expect([where.place, references.payment]).toEqual(["held", proof.razorpay_payment_id]);

  for (const [index, reason] of ["hardware", "not_delivered", "cancelled", "late_payment"].entries())
    await addRefund(db, proof.razorpay_payment_id, {
      ...{ reason, status: "processed", processed_at: new Date(), due_at: null, arn: `arn${index}` },
      created_at: new Date(created_at.getTime() + index * 60_000),
    });
  const many = await page(id);
  expect(many.references.bank).toEqual(["arn3", "arn2", "arn1", "arn0"]);
  expect(many.timeline.filter(({ kind }) => kind === "refund_started")).toHaveLength(4);

  const plan = await db.transaction().execute(async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx);
    return (await sql<{ "QUERY PLAN": string }>`explain ${refundsOf(orderId)}`.execute(tx)).rows;
  });
  const text = plan.map((row) => row["QUERY PLAN"]).join("\n");
  for (const index of ["payments_order", "refunds_payment"]) expect(text).toContain(index);
  expect(text).not.toContain("Seq Scan");
  await sql`delete from refunds`.execute(db);
});
