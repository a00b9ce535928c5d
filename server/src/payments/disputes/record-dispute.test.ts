import { sql } from "kysely";
import { expect, test } from "vitest";
import { startDisputePoller, syncDispute } from "../settlement/dispute-poller.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { setup as money } from "../testing/setup.ts";
import { liftAccountHold } from "./lift-account-hold.ts";
import { recordDispute } from "./record-dispute.ts";

async function setup() {
  const shop = await money();
  const { db, asMerchant, order, pay, addPayment, payments, provider, rowOf, refundsOf } = shop;
  const bank = async (path: string, body: object): Promise<{ id: string }> => {
    const answer = await asMerchant("POST", `/test/disputes${path}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  return {
    ...shop,
    open: (payment_id: string, amount?: number) => bank("", { payment_id, ...(amount && { amount }) }),
    decide: (id: string, status: string) => bank(`/${id}`, { status }),
    /** A paid order; with another amount it is refunded. */
    async buy(amount_minor?: number) {
      const { id } = (await order("ada")).body;
      const paymentId = amount_minor
        ? await addPayment(id, { amount_minor })
        : (await pay(id)).body.razorpay_payment_id;
      await settlePayment(payments, await provider.payment(paymentId));
      return { id, paymentId, orderId: (await rowOf(id)).id };
    },
    async balances() {
      const { rows } = await sql<{ account: string; sum: number }>`
        select account, sum(amount_minor) as sum from journal_lines group by 1 having sum(amount_minor) <> 0`.execute(
        db,
      );
      return Object.fromEntries(rows.map(({ account, sum }) => [account, sum]));
    },
    disputes: () => db.selectFrom("disputes").selectAll().execute(),
    payment: () => db.selectFrom("payments").selectAll().executeTakeFirstOrThrow(),
    environment: () => db.selectFrom("environments").selectAll().executeTakeFirstOrThrow(),
    sentRefunds: async () =>
      (await db.selectFrom("embedded_gateway_refunds").select("amount_minor").execute()).map((row) => row.amount_minor),
    titles: async () =>
      (await db.selectFrom("notifications").select("title").orderBy("created_at").execute()).map(({ title }) => title),
    async makeRefundsDue() {
      const open = ["queued", "sent", "failed"] as const;
      await db.updateTable("refunds").set({ due_at: sql`now()` }).where("status", "in", open).execute();
      shop.wake();
    },
    refundStates: async () =>
      (await refundsOf()).map(({ reason, status, amount_minor }) => `${reason} ${status} ${amount_minor}`).sort(),
  };
}

test("by webhook: recorded and notified once, and closed the same way", async () => {
  const { buy, open, decide, disputes, titles, runWebhookProcessor, runWebhookSender, gatewayUrl, balances } =
    await setup();
  const { paymentId } = await buy();
  runWebhookProcessor();
  runWebhookSender(gatewayUrl.replace(/\/embedded-gateway.*/, "/webhooks/razorpay"));
  const { id } = await open(paymentId, 30);
  await expect.poll(disputes).toMatchObject([{ gateway_dispute_id: id, status: "open", amount_minor: 30 }]);
  await decide(id, "under_review");
  await expect.poll(async () => (await disputes())[0]?.status).toBe("under_review");
  await decide(id, "action_required");
  await expect.poll(async () => (await disputes())[0]?.status).toBe("open");
  await decide(id, "won");
  await expect.poll(async () => (await disputes())[0]?.status).toBe("won");
  expect(await titles()).toEqual(["A payment is disputed", "A dispute is over"]);
  expect(await balances()).toEqual({ gateway: 40, prepaid: -40 });
});

test("lost: booked once, the environment ends, the order is refunded, and new orders are refused until an operator lifts it", async () => {
  const { buy, open, decide, payments, runReconciler, rowOf, environment, ...rest } = await setup();
  const { id, paymentId, orderId } = await buy();
  runReconciler();
  await expect.poll(async () => (await rowOf(id)).status).toBe("fulfilled");
  const dispute = (await open(paymentId)).id;
  await syncDispute(payments, dispute);
  await decide(dispute, "lost");
  for (const _ of [1, 2]) await syncDispute(payments, dispute);
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  expect(await rowOf(id)).toMatchObject({ status: "refunded", usd_net_minor: 0, hours: 0 });
  expect(await rest.payment()).toMatchObject({ refund_minor: 40, order_id: orderId });
  expect(await rest.balances()).toEqual({ revenue: -40, disputes: 40 });
  expect(await rest.titles()).toEqual(
    expect.arrayContaining(["A payment is disputed", "Your bank took a payment back"]),
  );

  const refused = await rest.order("ada");
  expect([refused.status, refused.body.code]).toEqual([403, "account_held"]);
  expect(refused.body.message).toContain("Write to Support");
  const extension = await rest.post(`/environments/${(await environment()).id}/extend`, "ada", {
    ...{ duration: 1, amount: 0.4, currency: "USD" },
  });
  expect(extension.status).toBe(409);
  expect((await rest.order("ben", { subdomain: "lab-ben" })).status).toBe(200);
  expect([
    await liftAccountHold(rest.db, "ada", { actor: "cli:test", reason: "" }),
    await liftAccountHold(rest.db, "ada", { actor: "cli:test", reason: "" }),
    await liftAccountHold(rest.db, "ben", { actor: "cli:test", reason: "" }),
  ]).toEqual([1, 0, 0]);
  await syncDispute(payments, dispute);
  expect((await rest.order("ada")).status).toBe(200);
});

test("lost by webhook with the hours of two credits in it: those end with it, and neither credit is open again", async () => {
  const { buy, open, decide, db, environment, rowOf, runReconciler, ...rest } = await setup();
  const before = (await rest.order("ada", { subdomain: "lab-before" })).body.id;
  await rest.clear("ada", before);
  const owed = { id: "owed", user_id: "ada", order_id: (await rowOf(before)).id, reason: "not_delivered" };
  await db
    .insertInto("time_credits")
    .values({ ...owed, gpu_hours: 4 })
    .execute();
  await db
    .insertInto("granted_credits")
    .values({ id: "granted", user_id: "ada", gpu_hours: 4, source: "operator", note: "" })
    .execute();
  const { id, paymentId, orderId } = await buy();
  runReconciler();
  await expect.poll(async () => (await rowOf(id)).status).toBe("fulfilled");
  // An hour that was paid, and two of each credit with two GPUs.
  expect((await rowOf(id)).hours).toBe(5);
  rest.runWebhookProcessor();
  rest.runWebhookSender(rest.gatewayUrl.replace(/\/embedded-gateway.*/, "/webhooks/razorpay"));
  await decide((await open(paymentId)).id, "lost");
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  expect(await rowOf(id)).toMatchObject({ status: "refunded", hours: 0 });
  for (const table of ["time_credits", "granted_credits"] as const)
    expect(await db.selectFrom(table).select("used_by_order").execute(), table).toEqual([{ used_by_order: orderId }]);
  expect(await rest.balances()).toEqual({ revenue: -40, disputes: 40 });
});

test("C50 dispute after a full refund: the loss is booked, nothing is sent back twice, and no refund fits any more", async () => {
  const { buy, open, decide, payments, provider, runRefundSender, rowOf, balances, db, ...rest } = await setup();
  const { id, paymentId } = await buy(39);
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status).toBe("refunded");
  expect(await balances()).toEqual({});
  const dispute = (await open(paymentId)).id;
  await syncDispute(payments, dispute);
  await decide(dispute, "lost");
  for (const _ of [1, 2]) await syncDispute(payments, dispute);
  await settlePayment(payments, await provider.payment(paymentId));
  expect(await balances()).toEqual({ gateway: -39, disputes: 39 });
  expect(await rest.disputes()).toMatchObject([{ status: "lost", lost_minor: 39, counted_minor: 0 }]);
  expect(await rest.payment()).toMatchObject({ refund_minor: 39 });
  expect(await rest.sentRefunds()).toEqual([39]);
  expect((await rowOf(id)).status).toBe("refunded");
  expect((await rest.order("ada")).body.code).toBe("account_held");
});

test("a refund waits while a dispute is open, and goes on when it is won", async () => {
  const { buy, open, decide, payments, runRefundSender, makeRefundsDue, rowOf, db, ...rest } = await setup();
  const { id, paymentId } = await buy(39);
  const dispute = (await open(paymentId)).id;
  await syncDispute(payments, dispute);
  runRefundSender();
  await expect.poll(async () => (await rest.refundsOf())[0]?.last_error).toContain("postponed");
  for (const _ of [1, 2]) await makeRefundsDue();
  await expect.poll(async () => (await rest.refundsOf())[0]?.due_at?.getTime()).toBeGreaterThan(Date.now());
  expect(await rest.sentRefunds()).toEqual([]);
  await decide(dispute, "won");
  await syncDispute(payments, dispute);
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  expect(await rest.sentRefunds()).toEqual([39]);
  expect(await rest.balances()).toEqual({});
});

test.each([
  ["whole", undefined, ["wrong_amount waived 39"], [], 39],
  ["in part", 15, ["wrong_amount processed 24"], [24], 15],
])("an unsent refund is waived as far as the bank took the money: %s", async (_, amount, states, sent, counted) => {
  const { buy, open, decide, payments, runRefundSender, rowOf, ...rest } = await setup();
  const { id, paymentId } = await buy(39);
  const dispute = (await open(paymentId, amount)).id;
  await decide(dispute, "lost");
  await syncDispute(payments, dispute);
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  expect(await rest.refundStates()).toEqual(states);
  expect(await rest.sentRefunds()).toEqual(sent);
  expect(await rest.disputes()).toMatchObject([{ lost_minor: counted, counted_minor: counted }]);
  expect(await rest.payment()).toMatchObject({ refund_minor: 39 });
  expect(await rest.balances()).toEqual({});
});

test("a refund whose response was lost before the bank took the money is found, and the loss is booked", async () => {
  const { buy, open, decide, payments, provider, runRefundSender, rowOf, ...rest } = await setup();
  const { id, paymentId } = await buy(39);
  const [refund] = await rest.refundsOf();
  await provider.refund({ paymentId, amountMinor: 39, key: refund?.id ?? "", notes: { reason: "wrong_amount" } });
  const dispute = (await open(paymentId)).id;
  await decide(dispute, "lost");
  await syncDispute(payments, dispute);
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status).toBe("refunded");
  expect(await rest.refundStates()).toEqual(["wrong_amount processed 39"]);
  expect(await rest.balances()).toEqual({ gateway: -39, disputes: 39 });
});

test("a failed refund is not retried after the bank took the money", async () => {
  const { buy, open, decide, payments, provider, runRefundSender, makeRefundsDue, balances, ...rest } = await setup();
  const { id, paymentId } = await buy(39);
  const failed = { id: "rfnd_1", paymentId, amountMinor: 39, status: "failed" as const, arn: null };
  Object.assign(provider, { refund: async () => failed, refundById: async () => failed });
  runRefundSender();
  await expect.poll(balances).toEqual({ gateway: 39, prepaid: -39 });
  const dispute = (await open(paymentId)).id;
  await decide(dispute, "lost");
  await syncDispute(payments, dispute);
  await makeRefundsDue();
  await expect.poll(rest.refundStates, { timeout: 10_000 }).toEqual(["wrong_amount waived 39"]);
  expect(await balances()).toEqual({});
  expect((await rest.rowOf(id)).status).toBe("refunded");
});

test("lost in part after delivery: a refund by hand and one of ours never make more than the payment", async () => {
  const { buy, open, decide, payments, provider, runReconciler, rowOf, environment, ...rest } = await setup();
  const { id, paymentId } = await buy();
  runReconciler();
  await expect.poll(async () => (await rowOf(id)).status).toBe("fulfilled");
  const dispute = (await open(paymentId, 15)).id;
  await decide(dispute, "lost");
  await syncDispute(payments, dispute);
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  // 15 are lost; the rest was hardly used and is refunded, because a disputed payment buys no more time (G108).
  expect(await rowOf(id)).toMatchObject({ status: "fulfilled", usd_net_minor: 1 });
  rest.runRefundSender();
  await expect.poll(rest.refundStates, { timeout: 10_000 }).toEqual(["discretionary processed 24"]);
  await provider.refund({ paymentId, amountMinor: 1, key: "the-dashboard", notes: {} });
  for (const _ of [1, 2]) await settlePayment(payments, await provider.payment(paymentId));
  expect(await rest.payment()).toMatchObject({ refund_minor: 40 });
  expect(await rest.refundStates()).toEqual(["discretionary processed 24", "external processed 1"]);
  expect(await rowOf(id)).toMatchObject({ status: "refunded", usd_net_minor: 0 });
  expect(await rest.balances()).toEqual({ revenue: -15, disputes: 15 });
});

test("lost before the delivery: the environment never runs, and nothing is refunded beside it", async () => {
  const { buy, open, decide, payments, runReconciler, runRefundSender, rowOf, environment, ...rest } = await setup();
  const { id, paymentId } = await buy();
  const dispute = (await open(paymentId)).id;
  await decide(dispute, "lost");
  await syncDispute(payments, dispute);
  runReconciler();
  runRefundSender();
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  expect((await rowOf(id)).status).toBe("refunded");
  expect(await rest.refundsOf()).toEqual([]);
  expect(await environment()).toMatchObject({ created_at: null });
});

test("64 concurrent reports of a lost dispute and stale ones: one entry; a stale report changes nothing", async () => {
  const { buy, open, decide, payments, provider, db, ...rest } = await setup();
  const { paymentId } = await buy();
  const dispute = (await open(paymentId)).id;
  const before = await provider.dispute(dispute);
  await decide(dispute, "lost");
  const after = await provider.dispute(dispute);
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, (_, index) => recordDispute(payments, index % 4 === 0 ? before : after)),
  );
  expect(outcomes.filter((outcome) => outcome === "lost")).toHaveLength(1);
  expect(await recordDispute(payments, before)).toBe("recorded");
  expect(await rest.disputes()).toMatchObject([{ status: "lost", lost_minor: 40, counted_minor: 40 }]);
  expect(await rest.payment()).toMatchObject({ refund_minor: 40 });
  const entries = db.selectFrom("journal").select("kind").where("kind", "=", "dispute_lost").execute();
  expect(await entries).toHaveLength(1);
});

test("without webhooks the poller finds it; a dispute of an unknown payment is ignored", async () => {
  const { buy, open, decide, payments, db, errors, order, pay, ...rest } = await setup();
  const { paymentId } = await buy();
  const other = await payments.provider.createOrder({ receipt: "other", amountMinor: 40, currency: "USD", notes: {} });
  const theirs = (await pay(other.id)).body.razorpay_payment_id;
  await open(theirs);
  await decide((await open(paymentId)).id, "lost");
  const sweep = startDisputePoller(payments);
  await expect.poll(rest.disputes).toMatchObject([{ status: "lost" }]);
  await sweep.stop();
  expect(errors).toEqual([]);
});

test("a loss without a deducted amount takes the disputed amount; in another currency the whole payment", async () => {
  const { buy, open, payments, provider, ...rest } = await setup();
  const { paymentId } = await buy();
  const seen = await provider.dispute((await open(paymentId, 10)).id);
  await recordDispute(payments, { ...seen, status: "lost", deductedMinor: 0 });
  await recordDispute(payments, { ...seen, id: "disp_2", status: "lost", currency: "INR", deductedMinor: 830 });
  expect((await rest.disputes()).map((row) => [row.lost_minor, row.counted_minor]).sort()).toEqual([
    [10, 10],
    [40, 30],
  ]);
  expect(await rest.payment()).toMatchObject({ refund_minor: 40 });
});
