import { sql } from "kysely";
import { expect, test } from "vitest";
import { declineRefund, grantRefund } from "../payments/refunds/grant-refund.ts";
import { requestRefund } from "../payments/refunds/request-refund.ts";
import { syncDispute } from "../payments/settlement/dispute-poller.ts";
import { settlePayment } from "../payments/settlement/settle-payment.ts";
import { setup } from "./testing/setup-order-page.ts";

test("too late, twice, another amount, refunded by hand: each shows where its money is", async () => {
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
  // Restored for the invariants, which are checked after every test.
  await change({ status: "sent" });
  await db.updateTable("payments").set({ refund_minor: 39 }).execute();
});

test("disputed: refunds wait without being late; won: they go on; lost: the bank has the money and nothing is owed", async () => {
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

test("refund requests and decisions are in the timeline, and a new request is possible while money is left (G68)", async () => {
  const { db, page, paid, create, runReconciler, runRefundSender, payments } = await setup();
  const { id, proof } = await paid("ada");
  expect(await page(id)).toMatchObject({ may_ask_refund: false, credit_notes: [] });
  runReconciler();
  await create("ada", proof);
  expect(await page(id)).toMatchObject({ may_ask_refund: true });
  const ask = { reason: "partial_downtime", text: "It was gone for an hour." } as const;
  const decision = {
    db,
    announce: payments.announce,
    author: { actor: "cli:test", reason: "" },
    orderId: id,
    message: "Half of it.",
  };
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
