import { expect, test } from "vitest";
import { readOrder } from "../../billing/read-order.ts";
import { refundPayment } from "../refunds/create-refund.ts";
import { setup } from "../testing/setup.ts";

/** An order of 212 rupees, and the loops that bring news of its payment. */
async function open() {
  const shop = await setup();
  const { id } = (await shop.order("ada", { gpu_count: 2, duration: 6 }, "INR")).body;
  const base = shop.gatewayUrl.replace(/\/embedded-gateway.*/, "");
  shop.runWebhookProcessor();
  shop.runWebhookSender(`${base}/webhooks/razorpay`);
  return {
    ...shop,
    id,
    pageOf: async () => readOrder(shop.db, "ada", id),
    async approve(paymentId: string) {
      await shop.endWait(paymentId);
      shop.wake();
    },
  };
}

test("paid by UPI: delivered, and order, receipt and refund say UPI, with the address shortened (G366, G367)", async () => {
  const { id, payBy, create, runReconciler, pageOf, db, payments } = await open();
  runReconciler();
  const { body: proof } = await payBy(id, { method: "upi", vpa: "success@razorpay" });
  expect((await create("ada", proof, { gpu_count: 2, duration: 6 })).body.status).toBe("active");
  expect(await pageOf()).toMatchObject({ method: "upi", paid_with: "UPI, su***@razorpay" });
  const { document } = await db.selectFrom("receipts").select("document").executeTakeFirstOrThrow();
  expect(document).toMatchObject({ method: "upi", card_last4: null, paid_from: "su***@razorpay" });
  const payment = await db.selectFrom("payments").selectAll().executeTakeFirstOrThrow();
  await db.transaction().execute((tx) => refundPayment(tx, payment, "hardware", payments.announce));
  const { body } = await db
    .selectFrom("notifications")
    .select("body")
    .where("title", "=", "Refund started")
    .executeTakeFirstOrThrow();
  expect(body).toMatch(/₹212 is on its way back to your UPI account; banks take 4-5 business days\.$/);
});

test("waiting for an approval: nothing is delivered or given up, even with the dialog closed; approved, it is delivered (G365)", async () => {
  const { id, payBy, clear, rowOf, openLeases, environments, pageOf, makeDue, runOrderPoller, approve, db } =
    await open();
  const { body } = await payBy(id, { method: "upi", vpa: "pending@razorpay" });
  expect(body).toEqual({ type: "async", method: "upi", payment_id: expect.stringMatching(/^pay_/) });
  expect((await clear("ada", id)).body).toEqual({ status: "success", cleared: false });
  await makeDue(id);
  runOrderPoller();
  await expect.poll(async () => Number((await rowOf(id)).due_at), { timeout: 10_000 }).toBeGreaterThan(Date.now());
  expect([(await rowOf(id)).status, await environments(), (await openLeases()).length]).toEqual(["open", [], 2]);
  expect(await pageOf()).toMatchObject({
    method: "upi",
    paid_with: null,
    money: { place: "being_checked", charged: 0 },
  });
  expect(await db.selectFrom("journal").selectAll().execute()).toEqual([]);
  await approve(body.payment_id);
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("paid");
  expect(await environments()).toHaveLength(1);
});

test("nobody approves: the payment fails in time, nothing was taken, and another one pays (G365)", async () => {
  const { id, payBy, pay, clear, rowOf, pageOf, approve, environments } = await open();
  const { body } = await payBy(id, { method: "upi", vpa: "expired@razorpay" });
  await clear("ada", id);
  await approve(body.payment_id);
  await expect.poll(async () => (await pageOf())?.money.place, { timeout: 10_000 }).toBe("nothing_taken");
  const page = await pageOf();
  expect(page?.timeline).toContainEqual(expect.objectContaining({ kind: "payment_failed", failure: "timed_out" }));
  expect([page?.method, (await rowOf(id)).status]).toEqual([null, "open"]);
  await pay(id);
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("paid");
  expect(await environments()).toHaveLength(1);
});

test("approved after another payment: the second one goes back to the UPI account (G365, G366)", async () => {
  const { id, payBy, pay, rowOf, refundsOf, approve, db, environments } = await open();
  const { body } = await payBy(id, { method: "upi", vpa: "pending@razorpay" });
  await pay(id);
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("paid");
  await approve(body.payment_id);
  await expect
    .poll(async () => (await refundsOf()).map(({ reason }) => reason), { timeout: 10_000 })
    .toEqual(["surplus_payment"]);
  expect(await environments()).toHaveLength(1);
  const { method } = await db
    .selectFrom("payments")
    .select("method")
    .where("settles_order", "=", false)
    .executeTakeFirstOrThrow();
  expect(method).toBe("upi");
});

test("in dollars there are cards only; an address that is none of the test addresses is refused and kept nowhere (G365, G367)", async () => {
  const { id, order, payBy, db } = await open();
  const dollars = (await order("ben")).body.id;
  for (const means of [
    { method: "upi", vpa: "success@razorpay" },
    { method: "netbanking", bank: "HDFC" },
    { method: "wallet", wallet: "mobikwik" },
  ] as const) {
    const { status, body } = await payBy(dollars, means);
    expect([status, body.error.reason]).toEqual([400, "currency_not_supported"]);
  }
  const { status, body } = await payBy(id, { method: "upi", vpa: "ada.lovelace@okaxis" });
  expect([status, body.error.reason]).toEqual([400, "invalid_vpa"]);
  expect((await payBy(id, { method: "netbanking", bank: "x".repeat(65) })).status).toBe(400);
  expect((await payBy(id, { method: "cash" })).status).toBe(400);
  expect(await db.selectFrom("embedded_gateway_payments").selectAll().execute()).toEqual([]);
});
