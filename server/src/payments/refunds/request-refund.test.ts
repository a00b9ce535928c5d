import { sql } from "kysely";
import { expect, test } from "vitest";
import { recordDispute } from "../disputes/record-dispute.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { setup as money } from "../testing/setup.ts";
import { declineRefund, grantRefund, previewRefund, type Share } from "./grant-refund.ts";

const text = "It was not reachable for two hours.";

/** A rental of 40 US cents, delivered by default. */
async function setup({ pending = false } = {}) {
  const shop = await money();
  const { db, order, pay, payments, provider, rowOf, runReconciler, post, refundsOf } = shop;
  const { id } = (await order("ada")).body;
  const paymentId = (await pay(id)).body.razorpay_payment_id;
  await settlePayment(payments, await provider.payment(paymentId));
  if (!pending) runReconciler();
  if (!pending) await expect.poll(async () => (await rowOf(id)).status).toBe("fulfilled");
  const orderId = (await rowOf(id)).id;
  const parts = { db, announce: payments.announce, author: { actor: "cli:test", reason: "" }, orderId };
  return {
    ...shop,
    id,
    orderId,
    paymentId,
    parts,
    ask: (body: object = {}, userId = "ada", name = id) =>
      post(`/orders/${name}/refund-request`, userId, { reason: "partial_downtime", text, ...body }),
    grant: (share: Share, message = "Sorry.") => grantRefund({ ...parts, message }, share),
    decline: (message = "It ran all the time.") => declineRefund({ ...parts, message }),
    requests: () => db.selectFrom("refund_requests").selectAll().orderBy("created_at").execute(),
    states: async () => (await refundsOf()).map((row) => `${row.reason} ${row.status} ${row.amount_minor}`),
    environment: () => db.selectFrom("environments").selectAll().executeTakeFirstOrThrow(),
    row: () => rowOf(id),
    /** Sets the remaining minutes of the ordered hour. */
    leave: (minutes: number) =>
      db
        .updateTable("environments")
        .set({ expires_at: sql`now() + make_interval(mins => ${minutes})` })
        .execute(),
    notified: async () =>
      (await db.selectFrom("notifications").select(["title", "body"]).execute()).map(
        ({ title, body }) => `${title}: ${body}`,
      ),
    async balances() {
      const { rows } = await sql<{ account: string; sum: number }>`
        select account, sum(amount_minor) as sum from journal_lines group by 1 having sum(amount_minor) <> 0`.execute(
        db,
      );
      return Object.fromEntries(rows.map(({ account, sum }) => [account, sum]));
    },
  };
}

test("one request for each order, by either of its ids; another user's order is like an unknown one", async () => {
  const { ask, orderId, requests } = await setup();
  const asked = await ask({ text: `  ${text}\n` });
  expect([asked.status, asked.body]).toEqual([
    200,
    {
      status: "success",
      request: {
        ...{ id: expect.any(String), reason: "partial_downtime", text, status: "open", answer: "" },
        ...{ created_at: expect.any(String), decided_at: null },
      },
    },
  ]);
  const again = await ask({}, "ada", orderId);
  expect([again.status, again.body.code]).toEqual([409, "action_not_allowed"]);
  expect(again.body.message).toContain("asked for this already");
  const foreign = await ask({}, "ben");
  const absent = await ask({}, "ben", "order_AAAAAAAAAAAAAA");
  expect([foreign.status, foreign.body]).toEqual([404, absent.body]);
  expect(await requests()).toMatchObject([{ order_id: orderId, user_id: "ada", text }]);
});

test("ten at once make one request", async () => {
  const { ask, requests } = await setup();
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask()));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array.from({ length: 9 }, () => 409)]);
  expect(await requests()).toHaveLength(1);
});

test.each([
  [{ reason: "because" }],
  [{ text: "short" }],
  [{ text: `short${" ".repeat(20)}` }],
  [{ text: "x".repeat(1001) }],
  [{ text: 7 }],
  [{ reason: undefined }],
])("%j is refused", async (body) => {
  const { ask, requests } = await setup({ pending: true });
  expect((await ask(body)).body.code).toBe("invalid_request");
  expect(await requests()).toEqual([]);
});

test("an unpaid or refunded order has nothing to request", async () => {
  const { ask, order, rowOf, provider, payments, paymentId, requests } = await setup();
  const unpaid = (await order("ben", { subdomain: "lab-ben" })).body.id;
  const refused = await ask({}, "ben", unpaid);
  expect([refused.status, refused.body.code]).toEqual([409, "action_not_allowed"]);
  await provider.refund({ paymentId, amountMinor: 40, key: "the-dashboard", notes: {} });
  await settlePayment(payments, await provider.payment(paymentId));
  expect((await rowOf((await provider.payment(paymentId)).orderId)).status).toBe("refunded");
  expect((await ask()).body.message).toContain("has gone back");
  expect(await requests()).toEqual([]);
});

test("prorated: the unused share goes back once, its time is taken off, and the user gets the operator's message", async () => {
  const { ask, grant, leave, states, runRefundSender, row, environment, ...rest } = await setup();
  await ask();
  await leave(30);
  const granted = await grant("prorated", "Our switch failed.");
  // Half of 40, less the part of a second since.
  const amount = { currency: "USD", amountMinor: 19 };
  expect(granted).toMatchObject({ isNew: true, ...amount, left: { ends: true } });
  expect(await grant("full")).toEqual({ isNew: false, ...amount });
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  expect(await environment()).toMatchObject({ ended_reason: "operator" });
  expect(await row()).toMatchObject({ status: "fulfilled", usd_net_minor: 21 });
  runRefundSender();
  await expect.poll(states, { timeout: 10_000 }).toEqual(["discretionary processed 19"]);
  expect(await rest.balances()).toEqual({ gateway: 21, revenue: -21 });
  expect(await rest.requests()).toMatchObject([{ status: "granted", answer: "Our switch failed." }]);
  expect(await rest.notified()).toContainEqual(
    "Refund granted: $0.19 of lab-ada is on its way back to your card; banks take 4-5 business days. With this refund no paid time of lab-ada is left, so it ends now. Our switch failed.",
  );
  expect((await ask({}, "ada")).status, "about the rest").toBe(200);
});

test("full: the environment ends, and the order is refunded when the money has arrived", async () => {
  const { ask, grant, runRefundSender, row, environment, balances, states } = await setup();
  await ask();
  expect(await grant("full", "")).toMatchObject({ amountMinor: 40 });
  expect(await row()).toMatchObject({ status: "refunding", usd_net_minor: 0, hours: 0 });
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  runRefundSender();
  await expect.poll(async () => (await row()).status, { timeout: 10_000 }).toBe("refunded");
  expect(await states()).toEqual(["discretionary processed 40"]);
  expect(await balances()).toEqual({});
});

test("an amount leaves the time, a second request is a second refund, and never more than the payment goes back", async () => {
  const { ask, grant, states, runRefundSender, environment, row } = await setup();
  await ask();
  for (const share of [0, 41, 1.5, -1]) await expect(grant(share)).rejects.toThrow("1 to 40 minor units");
  const grants = await Promise.all(Array.from({ length: 8 }, () => grant(15)));
  expect(grants.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect((await environment()).desired).toBe("running");
  await ask({ reason: "maintenance" });
  await expect(grant(26)).rejects.toThrow("1 to 25");
  await grant(20);
  runRefundSender();
  await expect.poll(states, { timeout: 10_000 }).toEqual(["discretionary processed 15", "discretionary processed 20"]);
  expect(await row()).toMatchObject({ status: "fulfilled", usd_net_minor: 5 });
});

test("declined with a message, once; nothing is owed, and without a request nothing can be declined", async () => {
  const { ask, grant, decline, notified, states, requests } = await setup();
  await expect(decline()).rejects.toThrow("There is no refund request");
  await ask();
  expect([await decline(), await decline()]).toEqual([true, false]);
  await expect(grant("full")).rejects.toThrow("declined already");
  expect(await notified()).toContainEqual(
    "Refund not granted: You asked for a refund of lab-ada. It ran all the time.",
  );
  expect(await states()).toEqual([]);
  expect(await requests()).toMatchObject([{ status: "declined", answer: "It ran all the time.", refund_id: null }]);
});

test("an operator refunds without a request: once, and again only with `again`; a preview does nothing", async () => {
  const { grant, states, parts, environment, requests, notified } = await setup();
  const seen = await previewRefund({ ...parts, message: "" }, "full", async (tx, granted) => {
    const row = tx.selectFrom("environments").select("desired").executeTakeFirstOrThrow();
    return { ...granted, ...(await row) };
  });
  expect(seen).toMatchObject({ amountMinor: 40, left: { ends: true }, desired: "terminated" });
  expect([await states(), (await environment()).desired]).toEqual([[], "running"]);
  expect(await grant(15)).toMatchObject({ isNew: true, amountMinor: 15 });
  expect(await grant(15)).toEqual({ isNew: false, currency: "USD", amountMinor: 15 });
  expect(await grantRefund({ ...parts, message: "", again: true }, "full")).toMatchObject({
    isNew: true,
    amountMinor: 25,
  });
  expect(await states()).toEqual(["discretionary queued 15", "discretionary queued 25"]);
  expect(await requests()).toEqual([]);
  expect(await notified()).toContainEqual(
    expect.stringMatching(/^Refund granted: \$0\.25 of lab-ada .* so it ends now\.$/),
  );
});

test("an order that is still starting is delivered or refunded automatically", async () => {
  const { ask, grant, states } = await setup({ pending: true });
  expect((await ask()).status).toBe(200);
  await expect(grant("full")).rejects.toThrow("is paid: it is delivered or refunded automatically");
  expect(await states()).toEqual([]);
});

test("granted while the payment is disputed: it waits, and is waived when the bank takes the money", async () => {
  const { ask, grant, states, runRefundSender, payments, paymentId, refundsOf, balances } = await setup();
  const dispute = {
    ...{ id: "disp_1", paymentId, amountMinor: 40, currency: "USD", deductedMinor: 0, status: "open" as const },
    ...{ phase: "chargeback", reasonCode: null, respondBy: null, createdAt: new Date() },
  };
  await ask();
  await recordDispute(payments, dispute);
  await grant(30);
  runRefundSender();
  await expect.poll(async () => (await refundsOf())[0]?.last_error, { timeout: 10_000 }).toContain("postponed");
  await recordDispute(payments, { ...dispute, status: "lost", deductedMinor: 40 });
  await expect.poll(states, { timeout: 10_000 }).toEqual(["discretionary waived 30"]);
  await expect.poll(balances).toEqual({ revenue: -10, disputes: 10 });
});
