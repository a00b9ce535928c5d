import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { recordLog } from "../../logging/testing/record-log.ts";
import { refusalOf } from "../testing/provider.suite.ts";
import { razorpay } from "./razorpay.ts";

interface Seen {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, unknown>;
  readonly body: unknown;
}

/** A stub provider with a fixed response that records its requests. */
async function answering(status: number, body: string, delayMs = 0, more: Record<string, string> = {}) {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    seen.push({
      url: request.url ?? "",
      method: request.method ?? "",
      headers: request.headers,
      body: text && JSON.parse(text),
    });
    setTimeout(() => response.writeHead(status, { "content-type": "application/json", ...more }).end(body), delayMs);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const keys = {
    keyId: "rzp_test_a",
    keySecret: "s",
    kind: "razorpay",
    mode: "test",
    minimumMinor: { USD: 50, INR: 100 },
  } as const;
  const { log, errors: notified } = recordLog();
  const client = razorpay({
    baseUrl,
    timeoutMs: delayMs > 0 ? 250 : 10_000,
    log,
    ...keys,
  });
  return { seen, notified, client };
}

test("every id is escaped: a path in one cannot reach another call", async () => {
  const { seen, client } = await answering(404, "{}");
  await refusalOf(client.payment("../orders/x?a=b"));
  await refusalOf(client.paymentsOfOrder("../payments"));
  await refusalOf(client.findOrderByReceipt("a&count=100"));
  expect(seen.map(({ url }) => url)).toEqual([
    "/v1/payments/..%2Forders%2Fx%3Fa%3Db?expand[]=card",
    "/v1/orders/..%2Fpayments/payments?expand[]=card",
    "/v1/orders?receipt=a%26count%3D100",
  ]);
});

test("a 429 says how long to wait, in milliseconds, where the provider does", async () => {
  for (const [value, retryAfterMs] of [
    ["7", 7000],
    ["0", 0],
    ["Wed, 21 Oct 2026 07:28:00 GMT", undefined],
    ["-1", undefined],
  ] as const) {
    const { client } = await answering(429, "{}", 0, { "retry-after": value });
    expect((await refusalOf(client.payment("pay_1"))).retryAfterMs, value).toBe(retryAfterMs);
  }
  const { client } = await answering(429, "{}");
  expect((await refusalOf(client.payment("pay_1"))).retryAfterMs).toBe(undefined);
});

test("final and retryable errors", async () => {
  const error = (code: string) => JSON.stringify({ error: { code, description: "why" } });
  const cases: [number, string, boolean, string][] = [
    [400, error("BAD_REQUEST_ERROR"), false, "BAD_REQUEST_ERROR"],
    [401, error("BAD_REQUEST_ERROR"), false, "BAD_REQUEST_ERROR"],
    [400, error("GATEWAY_ERROR"), true, "GATEWAY_ERROR"],
    [409, error("BAD_REQUEST_ERROR"), true, "BAD_REQUEST_ERROR"],
    [429, "slow down", true, "HTTP_429"],
    [502, "<html>Bad gateway</html>", true, "HTTP_502"],
    [200, "<html>Welcome</html>", true, "INVALID_ANSWER"],
    [200, '{"id":"order_1","amount":"40"}', true, "INVALID_ANSWER"],
    [302, "", true, "NETWORK"],
  ];
  for (const [status, body, retryable, code] of cases) {
    const { client } = await answering(status, body);
    const refusal = await refusalOf(client.createOrder({ receipt: "r", amountMinor: 40, currency: "USD", notes: {} }));
    expect([status, refusal.code, refusal.retryable]).toEqual([status, code, retryable]);
  }
});

test("a hanging provider times out, an unreachable one fails at once; both are retryable", async () => {
  const { client } = await answering(200, "{}", 5000);
  const startedAt = performance.now();
  expect(await refusalOf(client.payment("pay_1"))).toMatchObject({ retryable: true, code: "NETWORK" });
  expect(performance.now() - startedAt).toBeLessThan(3000);
});

test("requests have the API key, the amount in minor units, the capture options and the refund's idempotency key", async () => {
  const { seen, client } = await answering(200, '{"id":"rfnd_1","payment_id":"pay_1","amount":40,"status":"pending"}');
  await refusalOf(client.createOrder({ receipt: "r", amountMinor: 40, currency: "USD", notes: { a: "b" } }));
  expect(await client.refund({ paymentId: "pay_1", amountMinor: 40, key: "0123456789", notes: {} })).toEqual({
    id: "rfnd_1",
    paymentId: "pay_1",
    amountMinor: 40,
    status: "pending",
    arn: null,
  });
  expect(seen[0]?.headers["authorization"]).toBe(`Basic ${Buffer.from("rzp_test_a:s").toString("base64")}`);
  expect(seen[0]?.body).toMatchObject({ amount: 40, currency: "USD", receipt: "r", payment: { capture: "automatic" } });
  expect(seen[1]).toMatchObject({ method: "POST", url: "/v1/payments/pay_1/refund" });
  expect(seen[1]?.headers["x-refund-idempotency"]).toBe("0123456789");
});

test("what a payment's entity becomes: refunded is captured and gone back, times are of seconds", async () => {
  const entity = { id: "pay_1", order_id: "order_1", amount: 40, currency: "USD", status: "refunded", fee: 2 };
  const { client } = await answering(200, JSON.stringify({ ...entity, created_at: 1_800_000_000 }));
  expect(await client.payment("pay_1")).toMatchObject({
    status: "captured",
    refundedMinor: 40,
    feeMinor: 2,
    createdAt: new Date("2027-01-15T08:00:00Z"),
  });
});

test("an invalid list item is skipped and logged in one line, and hides no other", async () => {
  const entity = { id: "pay_1", order_id: "order_1", amount: 40, currency: "USD", created_at: 1_800_000_000 };
  const items = [
    { ...entity, status: "captured", card: [] },
    { ...entity, id: "pay_2", status: "pending", method: "cod", acquirer_data: [] },
    { ...entity, id: "pay_3", status: "captured", amount: "40" },
  ];
  const { client, notified } = await answering(200, JSON.stringify({ entity: "collection", count: 3, items }));
  const window = { from: new Date(0), to: new Date(), skip: 0, count: 3 };
  const { payments, isLast } = await client.paymentsBetween(window);
  expect(payments.map(({ id, status, cardLast4 }) => [id, status, cardLast4])).toEqual([
    ["pay_1", "captured", null],
    ["pay_2", "created", null],
  ]);
  expect(isLast, "a full page, though one of it was left out").toBe(false);
  expect(notified).toEqual([expect.stringMatching(/^skipped in .*pay_3, amount: .*$/)]);
  expect(await client.paymentsOfOrder("order_1")).toHaveLength(2);
});

test.each([
  [{ arn: "a1" }, "a1"],
  [{ arn: 7 }, "7"],
  [[], null],
  [null, null],
])("a refund's bank data %j is read", async (acquirer_data, arn) => {
  const entity = { id: "rfnd_1", payment_id: "pay_1", amount: 40, status: "processed", acquirer_data };
  const { client } = await answering(200, JSON.stringify(entity));
  expect(await client.refundById("rfnd_1")).toMatchObject({ status: "processed", arn });
});

test("an order with another receipt is not accepted as ours", async () => {
  const { client } = await answering(
    200,
    '{"items":[{"id":"order_1","receipt":"other","amount":40,"currency":"USD","status":"created"}]}',
  );
  expect(await client.findOrderByReceipt("mine")).toBe(undefined);
});
