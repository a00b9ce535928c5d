import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { setup } from "../testing/setup.ts";
import { isFutureExpiry, testCards } from "./cards.ts";
import { embeddedProvider } from "./embedded-provider.ts";

async function open() {
  const world = await setup();
  const call = world.asMerchant;
  const order = async (change: object = {}) =>
    (
      await call("POST", "/orders", {
        amount: 240,
        currency: "USD",
        receipt: "r",
        payment: { capture: "automatic" },
        ...change,
      })
    ).body;
  return { ...world, call, order };
}

test("keys are created once and kept; merchant calls need them", async () => {
  const { db, gateway, call } = await open();
  expect(gateway.keyId).toMatch(/^embedded_[0-9a-f]{20}$/);
  const again = await embeddedProvider({ db });
  expect([again.keyId, again.keySecret]).toEqual([gateway.keyId, gateway.keySecret]);
  for (const authorization of [
    "",
    "Basic eDp5",
    `Basic ${Buffer.from(`${gateway.keyId}:`).toString("base64")}`,
    "Bearer x",
  ]) {
    const { status, body } = await call("GET", "/orders", undefined, { authorization });
    expect([status, body.error.code]).toEqual([401, "BAD_REQUEST_ERROR"]);
  }
});

test("orders: entity, receipt filter, expanded payments, and from created over attempted to paid", async () => {
  const { call, order, pay } = await open();
  const made = await order();
  expect(made).toMatchObject({
    entity: "order",
    id: expect.stringMatching(/^order_\w{14}$/),
    amount: 240,
    amount_paid: 0,
    amount_due: 240,
    status: "created",
    attempts: 0,
  });
  await pay(made.id, "5305620000030003");
  expect((await call("GET", `/orders/${made.id}`)).body).toMatchObject({ status: "attempted", attempts: 1 });
  await pay(made.id);
  const { body } = await call("GET", "/orders?receipt=r&expand[]=payments");
  expect(body).toMatchObject({
    entity: "collection",
    count: 1,
    items: [{ status: "paid", amount_paid: 240, payments: { count: 2 } }],
  });
  expect((await call("GET", "/orders?receipt=other")).body.count).toBe(0);
});

test("a paid and an unknown order cannot be paid (G88), and the signature is lower-case hex of order|payment", async () => {
  const { order, pay, gateway } = await open();
  const { id } = await order();
  const { body: proof } = await pay(id);
  expect(proof).toEqual({
    razorpay_payment_id: expect.stringMatching(/^pay_[A-Za-z0-9]{14}$/),
    razorpay_order_id: id,
    razorpay_signature: createHmac("sha256", gateway.keySecret)
      .update(`${id}|${proof.razorpay_payment_id}`)
      .digest("hex"),
  });
  for (const orderId of [id, "order_00000000000000", ""]) {
    const { status, body } = await pay(orderId);
    expect([status, body.error.code]).toEqual([400, "BAD_REQUEST_ERROR"]);
  }
});

test("sixteen clicks on Pay: one payment", async () => {
  const { order, pay, db } = await open();
  const { id } = await order();
  const answers = await Promise.all(Array.from({ length: 16 }, () => pay(id)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await db.selectFrom("embedded_gateway_payments").selectAll().execute()).toHaveLength(1);
});

test("every test card has its result and leaves a payment", async () => {
  const { order, pay, db } = await open();
  const outcomes: Record<string, string> = {};
  for (const { number } of testCards) {
    const { status, body } = await pay((await order()).id, number);
    outcomes[number] = status === 200 ? "paid" : body.error.reason;
  }
  expect(Object.values(outcomes)).toEqual([
    ...Array(7).fill("paid"),
    "insufficient_fund",
    "payment_cancelled",
    "card_declined",
    "payment_timed_out",
    "gateway_technical_error",
    "authentication_failed",
  ]);
  const failed = await db
    .selectFrom("embedded_gateway_payments")
    .select("error_reason")
    .where("status", "=", "failed")
    .execute();
  expect(failed).toHaveLength(6);
});

test("C48 a real card number, a spent card and a bad CVV are refused, and no attempt is kept", async () => {
  const { order, pay, db, gatewayUrl, gateway } = await open();
  const { id } = await order();
  for (const number of ["4242424242424242", "4111111111111111", "", "5555", "5555555555554444 5"]) {
    const { status, body } = await pay(id, number);
    expect([status, body.error.reason]).toEqual([400, "invalid_card_number"]);
  }
  const card = { number: "5555555555554444", cvv: "123", expiry_month: "12", expiry_year: "34" };
  const bodies = [
    { ...card, cvv: "1" },
    { ...card, expiry_year: "20" },
    { ...card, expiry_month: "13" },
    { ...card, number: 5555555555554444 },
    null,
    {},
  ];
  for (const each of [
    ...bodies.map((one) => ({ key_id: gateway.keyId, order_id: id, method: "card", card: one })),
    { key_id: "x", order_id: id, method: "card", card },
    "{",
    [],
    "\u0000",
  ]) {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${gatewayUrl}/payments/create/checkout`, {
      method: "POST",
      headers,
      body: typeof each === "string" ? each : JSON.stringify(each),
    });
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
      400,
      "BAD_REQUEST_ERROR",
    ]);
  }
  expect(await db.selectFrom("embedded_gateway_payments").selectAll().execute()).toEqual([]);
  expect(isFutureExpiry("12", "2034", new Date("2034-12-31T23:00:00Z"))).toBe(true);
  expect(isFutureExpiry("11", "34", new Date("2034-12-01T00:00:00Z"))).toBe(false);
});

test("capture: only from authorized and only the same amount", async () => {
  const { call, order, pay } = await open();
  const { id } = await order({ payment: { capture: "manual" } });
  const paymentId = (await pay(id)).body.razorpay_payment_id;
  expect((await call("GET", `/payments/${paymentId}`)).body).toMatchObject({ status: "authorized", captured: false });
  for (const body of [{ amount: 239, currency: "USD" }, { amount: 240, currency: "INR" }, {}])
    expect((await call("POST", `/payments/${paymentId}/capture`, body)).status).toBe(400);
  expect((await call("POST", `/payments/${paymentId}/refund`, {})).body.error.description).toContain("captured");
  expect((await call("POST", `/payments/${paymentId}/capture`, { amount: 240, currency: "USD" })).body.status).toBe(
    "captured",
  );
  expect((await call("POST", `/payments/${paymentId}/capture`, { amount: 240, currency: "USD" })).status).toBe(400);
});

test("C37 refunds: the key makes them one, parallel ones never exceed the payment", async () => {
  const { call, order, pay } = await open();
  const paymentId = (await pay((await order()).id)).body.razorpay_payment_id;
  const refund = (amount: number, key: string) =>
    call("POST", `/payments/${paymentId}/refund`, { amount }, { "x-refund-idempotency": key });
  const same = await Promise.all(Array.from({ length: 4 }, () => refund(100, "key-000001")));
  expect(new Set(same.map(({ body }) => body.id)).size).toBe(1);
  expect((await refund(101, "key-000001")).status).toBe(400);
  expect((await refund(1, "short")).status).toBe(400);
  const rest = await Promise.all([1, 2, 3].map((n) => refund(100, `key-10000${n}`)));
  expect(rest.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  expect((await call("GET", `/payments/${paymentId}`)).body).toMatchObject({
    status: "captured",
    amount_refunded: 200,
    refund_status: "partial",
  });
  await call("POST", `/payments/${paymentId}/refund`, {});
  expect((await call("GET", `/payments/${paymentId}`)).body).toMatchObject({
    status: "refunded",
    refund_status: "full",
  });
  const { body } = await call("POST", `/payments/${paymentId}/refund`, {});
  expect(body.error.description).toBe("The payment has been fully refunded already");
  expect((await call("GET", `/payments/${paymentId}/refunds`)).body.count).toBe(3);
});

test("every payment of a window of time, newest first, page by page", async () => {
  const { call, order, pay, db } = await open();
  const ids: string[] = [];
  for (let n = 0; n < 3; n++) ids.unshift((await pay((await order()).id)).body.razorpay_payment_id);
  const at = Date.UTC(2030, 0, 1) / 1000;
  for (const [index, id] of ids.entries())
    await db
      .updateTable("embedded_gateway_payments")
      .set({ created_at: new Date((at - index) * 1000 + 900) })
      .where("id", "=", id)
      .execute();
  const listed = async (query: string) => {
    const { body } = await call("GET", `/payments?${query}`);
    expect([body.entity, body.count]).toEqual(["collection", body.items.length]);
    return body.items.map(({ id }: { id: string }) => id);
  };
  expect(await listed("")).toEqual(ids);
  expect(await listed("count=2")).toEqual(ids.slice(0, 2));
  expect(await listed("count=2&skip=2")).toEqual(ids.slice(2));
  expect(await listed(`from=${at - 1}&to=${at}`)).toEqual(ids.slice(0, 2));
  expect(await listed(`from=${at - 2}&to=${at - 1}`)).toEqual(ids.slice(1));
  expect((await call("GET", "/payments?count=101")).status).toBe(400);
  expect((await call("GET", "/payments?from=-1")).status).toBe(400);
});

test("unknown ids, paths and bodies are refused in the dialect, never with a 5xx", async () => {
  const { call } = await open();
  for (const [method, path, body] of [
    ["GET", "/orders/order_x"],
    ["GET", "/orders/..%2fpayments"],
    ["GET", "/payments/%00"],
    ["GET", "/refunds/x"],
    ["GET", "/nothing"],
    ["POST", "/orders", {}],
    ["POST", "/orders", { amount: 1.5, currency: "USD" }],
    ["POST", "/orders", { amount: 1, currency: "euro" }],
    ["POST", "/orders", "{"],
    ["POST", "/orders", { amount: 1, currency: "USD", receipt: "r".repeat(41) }],
    ["GET", "/orders?count=1000"],
    ["POST", "/payments/pay_x/capture", { amount: 1, currency: "USD" }],
    ["POST", "/payments/pay_x/refund", {}],
  ] as const) {
    const answer = await call(method, path, body);
    expect([path, answer.status >= 400 && answer.status < 500, answer.body.error.code]).toEqual([
      path,
      true,
      "BAD_REQUEST_ERROR",
    ]);
  }
});
