import { sql } from "kysely";
import { expect, test } from "vitest";
import { operatorKey, setup } from "../testing/setup.ts";
import { testCards } from "./cards.ts";
import { outcomeNames } from "./outcomes.ts";

/** An order at the provider, and a merchant that receives webhooks. */
async function open(outcome: string, options: Parameters<typeof setup>[0] = {}) {
  const world = await setup(options);
  const { db, asMerchant: call } = world;
  const { id } = (await world.order("ada")).body;
  expect((await call("PUT", `/test/orders/${id}/outcome`, { outcome })).body).toEqual({ id, outcome });
  const notified = async () => {
    const rows = await db
      .selectFrom("embedded_gateway_webhooks")
      .selectAll()
      .orderBy("due_at")
      .orderBy("created_at")
      .execute();
    return rows.map(({ body, due_at, times }) => ({
      event: JSON.parse(body).event as string,
      inMs: due_at.getTime() - Date.now(),
      times,
    }));
  };
  const paymentsOf = async () =>
    (await call("GET", `/orders/${id}/payments`)).body.items as { id: string; status: string }[];
  const payment = async () => (await world.pay(id)).body.razorpay_payment_id;
  return { ...world, id, call, notified, paymentsOf, payment };
}

const byReason = testCards.flatMap(({ fails }) => (fails ? [fails.reason] : []));

test.each(byReason)(
  "failure_%s: the next attempt fails with it whatever the card, the one after pays",
  async (reason) => {
    const { pay, id, paymentsOf } = await open(`failure_${reason}`);
    const { status, body } = await pay(id);
    expect([status, body.error]).toMatchObject([
      400,
      { code: "BAD_REQUEST_ERROR", reason, metadata: { order_id: id } },
    ]);
    expect(await paymentsOf()).toMatchObject([{ status: "failed", error_reason: reason }]);
    expect((await pay(id)).status).toBe(200);
  },
);

test("dismissed: no attempt, no proof; dismissed_paid: captured, and no proof", async () => {
  const nothing = await open("dismissed");
  expect((await nothing.pay(nothing.id)).body.error.reason).toBe("payment_dismissed");
  expect(await nothing.paymentsOf()).toEqual([]);
  expect((await nothing.pay(nothing.id)).status).toBe(200);

  const paid = await open("dismissed_paid");
  const { status, body } = await paid.pay(paid.id);
  expect([status, body.error.reason, JSON.stringify(body).includes("signature")]).toEqual([
    400,
    "payment_dismissed",
    false,
  ]);
  expect(await paid.paymentsOf()).toMatchObject([{ status: "captured" }]);
  expect((await paid.notified()).map(({ event }) => event)).toEqual(["payment.captured", "order.paid"]);
});

test("authorised_late: fails now; later the bank authorizes it, with a webhook", async () => {
  const { pay, id, paymentsOf, db, runWebhookSender, gatewayUrl, notified, call } = await open("authorised_late");
  expect((await pay(id)).body.error.reason).toBe("payment_timed_out");
  expect(await paymentsOf()).toMatchObject([{ status: "failed" }]);
  runWebhookSender(`${gatewayUrl}/nobody`);
  await db.updateTable("embedded_gateway_payments").set({ authorizes_at: sql`now()` }).execute();
  await expect.poll(async () => (await paymentsOf())[0]?.status).toBe("authorized");
  expect(await notified()).toContainEqual(expect.objectContaining({ event: "payment.authorized" }));
  const [late] = await paymentsOf();
  expect((await call("POST", `/payments/${late?.id}/capture`, { amount: 40, currency: "USD" })).body.status).toBe(
    "captured",
  );
});

test("captured_twice: two captured payments of one order, one proof", async () => {
  const { pay, id, paymentsOf } = await open("captured_twice");
  expect((await pay(id)).body.razorpay_signature).toMatch(/^[0-9a-f]{64}$/);
  expect((await paymentsOf()).map(({ status }) => status)).toEqual(["captured", "captured"]);
});

test("webhooks: delayed, lost, three times, out of order", async () => {
  const first = async (outcome: string) => {
    const { pay, id, notified } = await open(outcome);
    await pay(id);
    return notified();
  };
  const delayed = await first("webhook_delayed");
  expect(delayed.map(({ event }) => event)).toEqual(["payment.captured", "order.paid"]);
  for (const { inMs } of delayed) expect(inMs).toBeGreaterThan(15_000);
  expect(await first("webhook_lost")).toEqual([]);
  expect((await first("webhook_tripled")).map(({ times }) => times)).toEqual([3, 3]);
  expect((await first("webhook_reordered")).map(({ event }) => event)).toEqual(["order.paid", "payment.captured"]);
});

test("webhook_tripled: posted three times under the same id, processed once", async () => {
  const { pay, id, app, runWebhookSender, runWebhookProcessor, gatewayUrl, environments, db } =
    await open("webhook_tripled");
  const posted: unknown[] = [];
  app.server.on("request", ({ url, headers }) => {
    if (url === "/webhooks/razorpay") posted.push(headers["x-razorpay-event-id"]);
  });
  await pay(id);
  runWebhookProcessor();
  runWebhookSender(gatewayUrl.replace(/\/embedded-gateway.*/, "/webhooks/razorpay"));
  await expect.poll(async () => (await environments()).length).toBe(1);
  await expect
    .poll(async () => (await db.selectFrom("embedded_gateway_webhooks").selectAll().execute()).length)
    .toBe(0);
  expect([posted.length, new Set(posted).size]).toEqual([6, 2]);
  expect(await db.selectFrom("gateway_events").selectAll().execute()).toHaveLength(2);
});

test("api_500 and api_429: the next call about this order, once; others are served meanwhile", async () => {
  for (const [outcome, status, code] of [
    ["api_500", 500, "SERVER_ERROR"],
    ["api_429", 429, "BAD_REQUEST_ERROR"],
  ] as const) {
    const { call, id } = await open(outcome);
    expect((await call("GET", "/orders")).status).toBe(200);
    const refused = await call("GET", `/orders/${id}`);
    expect([refused.status, refused.body.error.code]).toEqual([status, code]);
    expect((await call("GET", `/orders/${id}`)).status).toBe(200);
  }
});

test("api_dropped: the work is done, and its response never comes", async () => {
  const { call, id, payment, provider, paymentsOf } = await open("success");
  const paymentId = await payment();
  await call("PUT", `/test/orders/${id}/outcome`, { outcome: "api_dropped" });
  const refund = { paymentId, amountMinor: 40, key: "0123456789", notes: {} };
  await expect(provider.refund(refund)).rejects.toMatchObject({ retryable: true, code: "NETWORK" });
  expect(await paymentsOf()).toMatchObject([{ amount_refunded: 40 }]);
  expect((await provider.refund(refund)).amountMinor).toBe(40);
});

test("api_hang: the call times out, and the next one is answered", async () => {
  const { id, provider } = await open("api_hang", { keys: { timeoutMs: 300 } });
  await expect(provider.paymentsOfOrder(id)).rejects.toMatchObject({ retryable: true, code: "NETWORK" });
  expect(await provider.paymentsOfOrder(id)).toEqual([]);
});

test("refunds: pending for a day, failed later, refused for the balance, busy once", async () => {
  const asked = async (outcome: string) => {
    const { payment, provider, ...rest } = await open(outcome);
    const paymentId = await payment();
    const refund = () => provider.refund({ paymentId, amountMinor: 40, key: "0123456789", notes: {} });
    return { ...rest, paymentId, provider, refund };
  };
  const pending = await asked("refund_pending");
  expect(await pending.provider.refundById((await pending.refund()).id)).toMatchObject({
    status: "pending",
    arn: null,
  });
  const failed = await asked("refund_failed");
  expect(await failed.provider.refundById((await failed.refund()).id)).toMatchObject({ status: "failed", arn: null });
  expect((await failed.notified()).map(({ event }) => event)).toContain("refund.failed");
  expect((await failed.provider.payment(failed.paymentId)).refundedMinor).toBe(0);
  const refused = await asked("refund_refused");
  await expect(refused.refund()).rejects.toMatchObject({ retryable: false, httpStatus: 400 });
  const busy = await asked("refund_busy");
  await expect(busy.refund()).rejects.toMatchObject({ retryable: true, httpStatus: 409 });
  expect((await busy.refund()).amountMinor).toBe(40);
});

test("the page lists every outcome for its own order, says that no money moves, and asks for the operator's key (G110)", async () => {
  const { app, id, gateway } = await open("webhook_lost");
  const base = "/embedded-gateway/v1";
  const entered = await app.inject(`${base}/test?order_id=${id}&name=%3Cscript%3E&key=${operatorKey}`);
  expect([entered.statusCode, entered.headers.location]).toEqual([
    303,
    `${base}/test?order_id=${id}&name=%3Cscript%3E`,
  ]);
  const cookie = String(entered.headers["set-cookie"]).split(";")[0] ?? "";
  const get = (url: string, headers: Record<string, string> = { cookie }) => app.inject({ url, headers });
  const page = await get(String(entered.headers.location));
  expect(page.body).toContain("Test mode: no money moves");
  expect([...page.body.matchAll(/name="outcome" value="(\w+)"/g)].map(([, name]) => name)).toEqual(outcomeNames);
  expect(page.body).toMatch(/value="webhook_lost" checked/);
  expect(page.body).not.toContain("<script>");
  expect(page.headers["content-security-policy"]).toContain("default-src 'none'");
  expect((await get(`${base}/test?order_id=order_x`)).statusCode).toBe(400);
  expect((await get(`${base}/test`)).body).toContain("From now on the payment dialog of this browser");
  const checkout = `${base}/checkout?order_id=${id}`;
  expect((await get(checkout)).body).toContain("Choose what happens next");

  const choose = (headers: Record<string, string>, outcome = "dismissed") =>
    app.inject({ method: "PUT", url: `${base}/test/orders/${id}/outcome`, headers, payload: { outcome } });
  expect((await get(`${base}/test?order_id=${id}`, {})).statusCode).toBe(404);
  expect((await get(checkout, {})).body).not.toContain("Choose what happens next");
  expect((await choose({})).statusCode).toBe(401);
  const authorization = `Basic ${Buffer.from(`${gateway.keyId}:${gateway.keySecret}`).toString("base64")}`;
  expect((await choose({ authorization })).statusCode).toBe(200);
  expect((await choose({ cookie }, "nonsense")).statusCode).toBe(400);
  expect((await choose({ cookie }, "success")).statusCode).toBe(200);
});
