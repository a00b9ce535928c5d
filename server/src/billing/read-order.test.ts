import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../database/database.ts";
import { newId } from "../database/new-id.ts";
import { declineRefund, grantRefund } from "../payments/refunds/grant-refund.ts";
import { requestRefund } from "../payments/refunds/request-refund.ts";
import { syncDispute } from "../payments/settlement/dispute-poller.ts";
import { settlePayment } from "../payments/settlement/settle-payment.ts";
import { setup as money } from "../payments/testing/setup.ts";
import { expectedBy } from "./order-money.ts";
import { readOrder, refundsOf } from "./read-order.ts";

/** The money side, with ada's page of an order as it is now. */
async function setup(options: Parameters<typeof money>[0] = {}) {
  const shop = await money(options);
  const { db, rowOf, order, pay, payments, provider } = shop;
  return {
    ...shop,
    async page(gatewayOrderId: string) {
      const found = await readOrder(db, "ada", (await rowOf(gatewayOrderId)).id);
      if (!found) throw new Error("no such order");
      return { ...found, kinds: found.timeline.map(({ kind }) => kind) };
    },
    /** Ordered and paid, and the payment noted; nothing delivers it unless the reconciler runs. */
    async paid(...request: Parameters<typeof order>) {
      const { id } = (await order(...request)).body;
      const { body: proof } = await pay(id);
      await settlePayment(payments, await provider.payment(proof.razorpay_payment_id));
      return { id, proof };
    },
  };
}

/** A further refund of a payment, as the loop leaves it. */
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

test("nothing paid yet: attempts say why they failed, and what the bank has not decided is being checked", async () => {
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

test("too late, twice, another amount, sent back by hand: each says where its money is", async () => {
  const {
    page,
    order,
    clear,
    addPayment,
    payments,
    provider,
    paid,
    runRefundSender,
    refundsOf: all,
  } = await setup({ slots: 4 });
  const settled = async () => (await all()).every(({ status }) => status === "processed");
  const late = (await order("ada")).body.id;
  await clear("ada", late);
  const ben = (await order("ben", { subdomain: "lab-ada" })).body.id;
  expect(ben).toMatch(/^order_/);
  await settlePayment(payments, await provider.payment(await addPayment(late)));
  expect(await page(late)).toMatchObject({
    ...{ state: "too_late", kinds: ["ordered", "paid", "refund_started", "refund_waiting"] },
    money: { place: "refund_started", charged: 0.4, refunding: 0.4 },
  });

  const wrong = (await order("ada", { subdomain: "wrong-lab" })).body.id;
  await settlePayment(payments, await provider.payment(await addPayment(wrong, { amount_minor: 39 })));
  expect(await page(wrong)).toMatchObject({ state: "wrong_amount", amount: 0.4, money: { charged: 0.39 } });

  const { id: twice } = await paid("ada", { subdomain: "twice-lab" });
  await settlePayment(payments, await provider.payment(await addPayment(twice)));
  const surplus = await page(twice);
  expect(surplus).toMatchObject({
    state: "starting",
    money: { place: "refund_started", charged: 0.8, refunding: 0.4, refunded: 0 },
  });
  expect(surplus.kinds).toEqual(["ordered", "paid", "paid_again", "refund_started", "refund_waiting"]);
  expect(surplus.receipts).toHaveLength(2);
  runRefundSender();
  await expect.poll(settled, { timeout: 10_000 }).toBe(true);
  expect((await page(twice)).money).toMatchObject({ place: "partly_refunded", charged: 0.8, refunded: 0.4 });
  expect((await page(late)).money.place).toBe("refunded");

  const paymentId = surplus.references.payment ?? "";
  await provider.refund({ paymentId, amountMinor: 40, key: "the-dashboard", notes: {} });
  await settlePayment(payments, await provider.payment(paymentId));
  const back = await page(twice);
  expect(back.credit_notes, "one for each that has gone back").toHaveLength(2);
  expect(back.money).toMatchObject({ place: "refunded", refunded: 0.8 });
  expect(back.timeline.filter(({ refund }) => refund === "external").map(({ kind }) => kind)).toEqual(["refund_sent"]);
});

test("a refund that failed, or could not be sent within the hour, needs a person", async () => {
  const { page, order, addPayment, payments, provider, db } = await setup();
  const { id } = (await order("ada")).body;
  await settlePayment(payments, await provider.payment(await addPayment(id, { amount_minor: 39 })));
  const { id: refund } = await db.selectFrom("refunds").select("id").executeTakeFirstOrThrow();
  const change = (set: object) => db.updateTable("refunds").set(set).where("id", "=", refund).execute();
  await change({ created_at: sql`now() - interval '59 minutes'` });
  expect((await page(id)).money.place).toBe("refund_started");
  await change({ created_at: sql`now() - interval '61 minutes'` });
  expect(await page(id)).toMatchObject({ money: { place: "needs_person", refunding: 0.39 } });
  expect((await page(id)).kinds.at(-1)).toBe("refund_failed");
  await change({ status: "sent" });
  expect((await page(id)).money.place, "the bank has it").toBe("refund_started");
  await db.transaction().execute(async (tx) => {
    await tx.updateTable("refunds").set({ status: "failed" }).execute();
    await tx.updateTable("payments").set({ refund_minor: 0 }).execute();
  });
  expect(await page(id)).toMatchObject({ money: { place: "needs_person", charged: 0.39, refunding: 0.39 } });
  // Put back, for the invariants that every test of money ends with.
  await change({ status: "sent" });
  await db.updateTable("payments").set({ refund_minor: 39 }).execute();
});

test("disputed: refunds wait and nobody is late; won, they go on; lost, the bank has the money and nothing is owed", async () => {
  const {
    page,
    order,
    addPayment,
    payments,
    provider,
    db,
    asMerchant,
    runRefundSender,
    refundsOf: all,
  } = await setup();
  const bank = async (path: string, body: object): Promise<{ id: string }> =>
    (await asMerchant("POST", `/test/disputes${path}`, body)).body;
  const buy = async (subdomain: string) => {
    const { id } = (await order("ada", { subdomain })).body;
    const payment_id = await addPayment(id, { amount_minor: 39 });
    await settlePayment(payments, await provider.payment(payment_id));
    const { id: dispute } = await bank("", { payment_id });
    await syncDispute(payments, dispute);
    return { id, dispute };
  };
  const won = await buy("won-lab");
  const lost = await buy("lost-lab");
  await db.updateTable("refunds").set({ created_at: sql`now() - interval '3 hours'` }).execute();
  const waiting = await page(won.id);
  expect(waiting.money).toMatchObject({ place: "disputed", charged: 0.39, refunding: 0.39, disputed: 0.39 });
  expect(waiting.kinds.filter((kind) => /dispute|failed|waiting/.test(kind))).toEqual([
    "dispute_opened",
    "refund_waiting",
  ]);

  for (const [{ dispute }, status] of [
    [won, "won"],
    [lost, "lost"],
  ] as const) {
    await bank(`/${dispute}`, { status });
    await syncDispute(payments, dispute);
  }
  expect((await page(won.id)).money, "its hour begins now").toMatchObject({ place: "refund_started", disputed: 0 });
  expect((await page(won.id)).kinds).toContain("dispute_closed");
  runRefundSender();
  await expect
    .poll(async () => (await all()).map(({ status }) => status).toSorted(), { timeout: 10_000 })
    .toEqual(["processed", "waived"]);
  expect((await page(won.id)).money).toMatchObject({ place: "refunded", refunded: 0.39 });
  const gone = await page(lost.id);
  expect(gone.money).toMatchObject({ place: "taken_back", refunding: 0, refunded: 0, disputed: 0.39 });
  expect(gone.kinds.filter((kind) => /dispute|waived|waiting/.test(kind)).toSorted()).toEqual([
    "dispute_lost",
    "dispute_opened",
    "refund_waived",
  ]);
});

test("what was asked for and decided stands in the timeline, and can be asked for again while money is left (G68)", async () => {
  const { db, page, paid, create, runReconciler, runRefundSender, payments } = await setup();
  const { id, proof } = await paid("ada");
  expect(await page(id)).toMatchObject({ may_ask_refund: false, credit_notes: [] });
  runReconciler();
  await create("ada", proof);
  expect(await page(id)).toMatchObject({ may_ask_refund: true });
  const ask = { reason: "partial_downtime", text: "It was gone for an hour." } as const;
  const decision = { db, announce: payments.announce, orderId: id, message: "Half of it." };
  await requestRefund(db, "ada", id, ask);
  expect(await page(id)).toMatchObject({ may_ask_refund: false, kinds: expect.arrayContaining(["refund_asked"]) });
  await declineRefund({ ...decision, message: "It was there." });
  expect((await page(id)).timeline.slice(-2)).toMatchObject([
    { kind: "refund_asked", text: ask.text },
    { kind: "refund_declined", text: "It was there." },
  ]);
  await requestRefund(db, "ada", id, ask);
  await grantRefund(decision, 20);
  runRefundSender();
  await expect.poll(async () => (await page(id)).money.place).toBe("partly_refunded");
  const after = await page(id);
  expect(after.kinds.slice(3)).toEqual([
    "refund_asked",
    "refund_declined",
    "refund_asked",
    "refund_started",
    "refund_sent",
  ]);
  expect(after.timeline.at(-1)).toMatchObject({ amount: 0.2, refund: "discretionary" });
  expect(after).toMatchObject({ may_ask_refund: true, money: { charged: 0.4, refunded: 0.2 } });
  expect(after.credit_notes).toEqual([expect.stringMatching(/^CRN-/)]);
});

test("another user's, nobody's and malformed ids are the same nothing; the provider's id is the order's too", async () => {
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
