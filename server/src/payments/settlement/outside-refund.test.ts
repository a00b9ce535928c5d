import { sql } from "kysely";
import { expect, test } from "vitest";
import { setup } from "../testing/setup.ts";
import { settlePayment } from "./settle-payment.ts";

test("C35 refunded in the dashboard before it was recorded: never delivered, the rest goes back", async () => {
  const { order, addPayment, payments, provider, rowOf, environments, refundsOf, db } = await setup();
  const part = (await order("ada")).body.id;
  expect(await settlePayment(payments, await provider.payment(await addPayment(part, { refunded_minor: 15 })))).toBe(
    "refunding",
  );
  const whole = (await order("ben")).body.id;
  expect(await settlePayment(payments, await provider.payment(await addPayment(whole, { refunded_minor: 40 })))).toBe(
    "refunding",
  );
  // An older webhook that comes after the refund.
  const { rows: seen } = await sql<{ id: string }>`select gateway_payment_id as id from payments`.execute(db);
  for (const { id } of seen)
    expect(await settlePayment(payments, { ...(await provider.payment(id)), refundedMinor: 0 })).toBe("recorded");
  expect((await rowOf(part)).status).toBe("refunding");
  expect((await rowOf(whole)).status).toBe("refunded");
  const booked = (await refundsOf()).map(({ reason, amount_minor }) => `${reason} ${amount_minor}`).sort();
  expect(booked).toEqual(["external 15", "external 40", "late_payment 25"]);
  expect(await environments()).toEqual([]);
});

test("a failed refund that is settled in the dashboard closes the order, and nothing is announced twice", async () => {
  const { order, addPayment, payments, provider, rowOf, runRefundSender, refundsOf, db } = await setup();
  const { id } = (await order("ada")).body;
  const payment = await provider.payment(await addPayment(id, { amount_minor: 39 }));
  await settlePayment(payments, payment);
  const failed = { id: "rfnd_1", paymentId: payment.id, amountMinor: 39, status: "failed" as const, arn: null };
  Object.assign(provider, { refund: async () => failed, refundById: async () => failed });
  runRefundSender();
  await expect.poll(async () => (await refundsOf())[0]?.status).toBe("failed");
  expect((await rowOf(id)).status).toBe("refunding");
  await settlePayment(payments, { ...payment, refundedMinor: 39 });
  expect(await rowOf(id)).toMatchObject({ status: "refunded", closed_at: expect.any(Date) });
  const titles = await db.selectFrom("notifications").select("title").execute();
  expect(titles.map(({ title }) => title).sort()).toEqual(["Refund sent", "Refund started"]);
});

test("C35 all of it refunded in the dashboard after delivery: the environment ends, booked once", async () => {
  const { rowOf, id, refundsOf, environments, db, refundOutside } = await delivered();
  await refundOutside(15);
  expect(await rowOf(id)).toMatchObject({ status: "fulfilled", usd_net_minor: 25 });
  expect(await environments()).toMatchObject([{ desired: "running" }]);
  await refundOutside(40);
  await refundOutside(40);
  expect(await rowOf(id)).toMatchObject({
    status: "refunded",
    usd_net_minor: 0,
    hours: 0,
    closed_at: expect.any(Date),
  });
  await expect.poll(async () => (await environments())[0]?.status, { timeout: 10_000 }).toBe("terminated");
  expect(await environments()).toMatchObject([{ ended_reason: "operator" }]);
  const booked = (await refundsOf()).map(({ reason, amount_minor }) => `${reason} ${amount_minor}`).sort();
  expect(booked).toEqual(["external 15", "external 25"]);
  expect(await db.selectFrom("time_credits").selectAll().execute()).toEqual([]);
  const titles = await db.selectFrom("notifications").select("title").execute();
  expect(titles.filter(({ title }) => title.includes("refunded"))).toEqual([
    { title: "lab-ada was refunded and ends" },
  ]);
});

test("C35 all of it refunded in the dashboard while it starts: it ends, without a second refund or a credit", async () => {
  const { rowOf, id, refundsOf, environments, db, refundOutside, runReconciler } = await delivered(false);
  await refundOutside(40);
  runReconciler();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  expect(await environments()).toMatchObject([{ status: "terminated", created_at: null }]);
  expect(await refundsOf()).toMatchObject([{ reason: "external", amount_minor: 40 }]);
  expect(await db.selectFrom("time_credits").selectAll().execute()).toEqual([]);
});

/** A paid order of 0.40 USD, delivered by default, that can be refunded in the dashboard. */
async function delivered(isDelivered = true) {
  const world = await setup();
  const { order, pay, payments, provider, rowOf, runReconciler } = world;
  const { id } = (await order("ada")).body;
  const payment = await provider.payment((await pay(id)).body.razorpay_payment_id);
  await settlePayment(payments, payment);
  if (isDelivered) {
    runReconciler();
    await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("fulfilled");
  }
  const refundOutside = (refundedMinor: number) => settlePayment(payments, { ...payment, refundedMinor });
  return { ...world, id, refundOutside };
}
