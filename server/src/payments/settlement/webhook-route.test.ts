import { createHmac } from "node:crypto";
import { inspect } from "node:util";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { setup as money } from "../testing/setup.ts";
import { settlePayment } from "./settle-payment.ts";

async function setup(options: Parameters<typeof money>[0] = {}) {
  const shop = await money(options);
  const { app, gateway, db } = shop;
  const base = shop.gatewayUrl.replace(/\/embedded-gateway.*/, "");
  const sign = (body: string | Buffer, secret = gateway.webhookSecret) =>
    createHmac("sha256", secret).update(body).digest("hex");
  return {
    ...shop,
    sign,
    url: `${base}/webhooks/razorpay`,
    post(body: string | Buffer, signature: string = sign(body), id?: string) {
      const headers = { "content-type": "application/json", "x-razorpay-signature": signature };
      const payload = { method: "POST" as const, url: "/webhooks/razorpay", payload: body };
      return app.inject({ ...payload, headers: { ...headers, ...(id && { "x-razorpay-event-id": id }) } });
    },
    captured: (paymentId: string, event = "payment.captured") =>
      JSON.stringify({
        entity: "event",
        event,
        payload: { payment: { entity: { id: paymentId, status: "captured" } } },
      }),
    eventsOf: () => db.selectFrom("gateway_events").selectAll().orderBy("received_at").execute(),
    async worked() {
      const left = db.selectFrom("gateway_events").select("event_id").where("processed_at", "is", null);
      await expect.poll(async () => (await left.execute()).length).toBe(0);
    },
  };
}

test("C30 the browser dies after paying and nobody polls: the webhook delivers", async () => {
  const { order, pay, url, runWebhookProcessor, runWebhookSender, runReconciler, rowOf, worked, environments } =
    await setup();
  const { id } = (await order("ada")).body;
  await pay(id);
  runWebhookProcessor();
  runReconciler();
  runWebhookSender(url);
  await expect.poll(async () => (await rowOf(id)).status).toBe("fulfilled");
  await worked();
  expect(await environments()).toHaveLength(1);
});

test("a refund is completed by its webhooks", async () => {
  const { order, pay, url, runWebhookProcessor, runWebhookSender, runReconciler, runRefundSender, db, ...rest } =
    await setup();
  const { id } = (await order("ada")).body;
  await pay(id);
  runWebhookProcessor();
  runWebhookSender(url);
  await expect.poll(rest.environments).toHaveLength(1);
  await db.updateTable("environments").set({ desired: "terminated", ended_reason: "cancelled" }).execute();
  runReconciler();
  runRefundSender();
  await expect.poll(async () => (await rest.rowOf(id)).status).toBe("refunded");
  const notified = async () => (await rest.eventsOf()).map(({ event }) => event);
  await expect
    .poll(notified)
    .toEqual(expect.arrayContaining(["payment.captured", "refund.created", "refund.processed"]));
  await rest.worked();
});

test("C19 the callback and its webhooks in the same moment: one environment, and every one is answered", async () => {
  const { order, pay, create, post, captured, runWebhookProcessor, runReconciler, worked, environments, rowOf } =
    await setup();
  const { id } = (await order("ada")).body;
  const { body: proof } = await pay(id);
  runWebhookProcessor();
  runReconciler();
  const [called, ...notified] = await Promise.all([
    create("ada", proof),
    post(captured(proof.razorpay_payment_id)),
    post(captured(proof.razorpay_payment_id, "order.paid")),
  ]);
  expect([called.status, called.body.status]).toEqual([200, "active"]);
  expect(notified.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  await worked();
  expect(await environments()).toHaveLength(1);
  expect((await rowOf(id)).status).toBe("fulfilled");
});

test("C20 ten times, in any order, and an older event after a newer one: one environment", async () => {
  const { order, pay, post, captured, runWebhookProcessor, worked, environments, rowOf, db } = await setup();
  const { id } = (await order("ada")).body;
  const paymentId = (await pay(id)).body.razorpay_payment_id;
  runWebhookProcessor();
  const bodies = ["payment.captured", "order.paid", "payment.authorized", "payment.failed"].map((event) =>
    captured(paymentId, event),
  );
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      bodies.map((body) => post(body, undefined, `event-${index % 7}-${body.length}`)),
    ).flat(),
  );
  expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([200]));
  await worked();
  expect((await rowOf(id)).status).toBe("paid");
  expect(await environments()).toHaveLength(1);
  expect(await db.selectFrom("payments").selectAll().execute()).toHaveLength(1);
});

test("C21 a signature that is wrong, missing, upper case, short, multibyte or of other bytes is refused and nothing kept", async () => {
  const { post, captured, sign, eventsOf } = await setup();
  const body = captured("pay_1");
  const spaced = JSON.stringify(JSON.parse(body), null, 1);
  for (const [payload, signature] of [
    [body, "0".repeat(64)],
    [body, ""],
    [body, sign(body).toUpperCase()],
    [body, sign(body).slice(0, 63)],
    [body, "é".repeat(64)],
    [body, sign(body, "another secret")],
    [spaced, sign(body)],
  ] as const) {
    const { statusCode, body: answer } = await post(payload, signature);
    expect([statusCode, JSON.parse(answer).code], signature).toEqual([400, "invalid_request"]);
  }
  expect(await eventsOf()).toEqual([]);
});

test("a UPI address in a webhook is kept shortened, wherever it stands; what has none is kept as it came (G367)", async () => {
  const { post, eventsOf } = await setup();
  const vpa = "ada.lovelace@okaxis";
  const entity = { id: "pay_00000000000000", vpa, upi: { vpa, payer_account_type: "bank_account" } };
  await post(JSON.stringify({ event: "payment.captured", payload: { payment: { entity } } }));
  await post('{ "event": "payment.captured",  "payload": {} }', undefined, "as-it-came");
  const [first, second] = (await eventsOf()).map(({ body }) => body.toString());
  expect(first).not.toContain("lovelace");
  expect(JSON.parse(first ?? "").payload.payment.entity).toEqual({
    ...{ id: "pay_00000000000000", vpa: "ad***@okaxis" },
    upi: { vpa: "ad***@okaxis", payer_account_type: "bank_account" },
  });
  expect(second).toBe('{ "event": "payment.captured",  "payload": {} }');
});

test("C22 a body replayed, with a new id, the same one or none: nothing is done twice", async () => {
  const { order, pay, post, captured, runWebhookProcessor, worked, environments, eventsOf, db } = await setup();
  const { id } = (await order("ada")).body;
  const body = captured((await pay(id)).body.razorpay_payment_id);
  runWebhookProcessor();
  expect((await post(body, undefined, "first")).statusCode).toBe(200);
  await worked();
  for (const eventId of ["second", "second", undefined, undefined])
    expect((await post(body, undefined, eventId)).statusCode).toBe(200);
  await worked();
  expect(await eventsOf()).toHaveLength(3);
  expect(await environments()).toHaveLength(1);
  expect(await db.selectFrom("payments").selectAll().execute()).toHaveLength(1);
});

test("C23 after a rotation of the secret: signed with the old or the new one it delivers; with any other it is refused", async () => {
  const { order, pay, post, captured, sign, runWebhookProcessor, worked, rowOf, eventsOf } = await setup();
  runWebhookProcessor();
  for (const [user, secret] of [
    ["ada", "the one before"],
    ["ben", undefined],
  ] as const) {
    const { id } = (await order(user)).body;
    const body = captured((await pay(id)).body.razorpay_payment_id);
    expect((await post(body, sign(body, "the one before that"))).statusCode).toBe(400);
    expect((await post(body, sign(body, secret))).statusCode).toBe(200);
    await worked();
    expect((await rowOf(id)).status).toBe("paid");
  }
  expect(await eventsOf()).toHaveLength(2);
});

test("C24 an event of an unknown order is kept and retried, one of another account is closed; neither has an effect", async () => {
  const { bank, post, captured, runWebhookProcessor, eventsOf, db, environments } = await setupOrphan();
  const orphan = await bank();
  runWebhookProcessor();
  await post(captured(orphan), undefined, "stray");
  await post(captured("pay_ofAnotherAccount"), undefined, "foreign");
  await post(JSON.stringify({ event: "settlement.processed", payload: {} }), undefined, "other");
  await expect
    .poll(async () => (await eventsOf()).map(({ event_id, last_error }) => [event_id, last_error]))
    .toEqual(
      expect.arrayContaining([
        ["stray", expect.stringContaining("belongs to no order of ours")],
        ["foreign", expect.stringContaining("does not exist")],
        ["other", "names no payment"],
      ]),
    );
  const rows = Object.fromEntries((await eventsOf()).map((row) => [row.event_id, row]));
  expect(rows["stray"]?.processed_at).toBeNull();
  expect(rows["foreign"]?.processed_at).not.toBeNull();
  expect([await environments(), await db.selectFrom("payments").selectAll().execute()]).toEqual([[], []]);
});

test("C24 an event that fails until the end of polling is closed with its reason", async () => {
  const { bank, post, captured, runWebhookProcessor, eventsOf, db } = await setupOrphan();
  await post(captured(await bank()), undefined, "stray");
  await db.updateTable("gateway_events").set({ received_at: sql`now() - interval '6 days'` }).execute();
  runWebhookProcessor();
  await expect.poll(async () => (await eventsOf())[0]?.processed_at).not.toBeNull();
  expect((await eventsOf())[0]?.last_error).toContain("belongs to no order of ours");
});

test("a payment of another client of the account is logged once, in one line, however often it is retried", async () => {
  const { wake, bank, post, captured, runWebhookProcessor, eventsOf, db, errors } = await setupOrphan();
  await post(captured(await bank()), undefined, "stray");
  runWebhookProcessor();
  for (const attempts of [1, 2, 3]) {
    await expect.poll(async () => (await eventsOf())[0]?.attempts).toBeGreaterThanOrEqual(attempts);
    await db.updateTable("gateway_events").set({ due_at: sql`now()` }).execute();
    wake();
  }
  expect(errors.map((error) => inspect(error))).toEqual([
    expect.stringMatching(/^\[?UnknownOrderError: .* no order of ours\]?$/),
  ]);
});

test("a refund that is due in an hour is polled at once when its webhook comes", async () => {
  const { order, addPayment, payments, provider, post, runWebhookProcessor, runRefundSender, refundsOf, db, rowOf } =
    await setup();
  const { id } = (await order("ada")).body;
  const paymentId = await addPayment(id, { amount_minor: 39 });
  await settlePayment(payments, await provider.payment(paymentId));
  const [{ id: key = "" } = {}] = await refundsOf();
  const sent = await provider.refund({ paymentId, amountMinor: 39, key, notes: { reason: "wrong_amount" } });
  await db
    .updateTable("refunds")
    .set({ status: "sent", gateway_refund_id: sent.id, due_at: sql`now() + interval '1 hour'` })
    .execute();
  runRefundSender();
  runWebhookProcessor();
  const entity = { id: sent.id, payment_id: paymentId };
  await post(JSON.stringify({ event: "refund.processed", payload: { refund: { entity } } }));
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
});

test("C25 ten megabytes, broken JSON, __proto__ and no body are refused plainly", async () => {
  const { post, sign, eventsOf, app } = await setup();
  expect((await post(Buffer.alloc(10 * 1024 * 1024, 32))).statusCode).toBe(413);
  for (const body of ["{", "null", "[]", '"x"', '{"event": 7}'])
    expect((await post(body, sign(body))).statusCode, body).toBe(400);
  expect((await app.inject({ method: "POST", url: "/webhooks/razorpay" })).statusCode).toBe(400);
  const polluted = '{"event": "x", "__proto__": {"polluted": true}, "payload": {}}';
  expect((await post(polluted)).statusCode).toBe(200);
  expect({}).not.toHaveProperty("polluted");
  expect((await eventsOf()).map(({ event }) => event)).toEqual(["x"]);
});

test("C51 with 10,000 events queued a webhook is answered within a second", async () => {
  const { post, captured, db, runWebhookProcessor } = await setup();
  await sql`insert into gateway_events (gateway, event_id, event, body, due_at)
    select 'embedded', 'queued-' || n, 'payment.captured', ${Buffer.from(captured("pay_ofNobody"))}, now() - interval '1 second'
    from generate_series(1, 10000) n`.execute(db);
  runWebhookProcessor();
  const before = performance.now();
  expect((await post(captured("pay_new"), undefined, "new")).statusCode).toBe(200);
  expect(performance.now() - before).toBeLessThan(5000);
});

/** A payment at the provider of an order that is not in our database. */
async function setupOrphan() {
  const shop = await setup();
  return {
    ...shop,
    async bank() {
      const { body } = await shop.asMerchant("POST", "/orders", { amount: 100, currency: "USD" });
      return shop.addPayment(body.id);
    },
  };
}
