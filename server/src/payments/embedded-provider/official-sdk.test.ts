import Razorpay from "razorpay";
import { expect, test } from "vitest";
import { setup } from "../testing/setup.ts";

test("C52 the provider's own SDK, pointed here, orders, reads, captures and pays back", async () => {
  const { gateway, gatewayUrl, pay, sign } = {
    ...(await setup()),
    sign: Razorpay.validateWebhookSignature,
  };
  const sdk = new Razorpay({ key_id: gateway.keyId, key_secret: gateway.keySecret });
  // The SDK has no setting for it, and adds the version itself.
  (sdk as unknown as { api: { rq: { defaults: { baseURL: string } } } }).api.rq.defaults.baseURL = gatewayUrl.replace(
    /\/v1$/,
    "",
  );

  const order = await sdk.orders.create({ amount: 4000, currency: "USD", receipt: "sdk-1", notes: { plan: "hourly" } });
  expect(order).toMatchObject({ entity: "order", amount: 4000, amount_due: 4000, status: "created", receipt: "sdk-1" });
  const { items } = await sdk.orders.all({ receipt: "sdk-1" });
  expect(items.map(({ id }) => id)).toEqual([order.id]);

  const { body: proof } = await pay(order.id);
  const payment = await sdk.payments.fetch(proof.razorpay_payment_id);
  expect(payment).toMatchObject({ entity: "payment", status: "authorized", amount: 4000, order_id: order.id });
  expect(await sdk.payments.capture(payment.id, 4000, "USD")).toMatchObject({ status: "captured" });
  expect((await sdk.orders.fetchPayments(order.id)).items.map(({ id }) => id)).toEqual([payment.id]);
  expect(await sdk.orders.fetch(order.id)).toMatchObject({ status: "paid", amount_paid: 4000 });
  expect(sign(`${order.id}|${payment.id}`, proof.razorpay_signature, gateway.keySecret)).toBe(true);

  const refund = await sdk.payments.refund(payment.id, { amount: 1000, notes: { why: "part" } });
  expect(refund).toMatchObject({ entity: "refund", amount: 1000, payment_id: payment.id });
  expect(await sdk.refunds.fetch(refund.id)).toMatchObject({ id: refund.id, amount: 1000 });
  expect((await sdk.payments.fetch(payment.id)).amount_refunded).toBe(1000);
  await expect(sdk.payments.refund(payment.id, { amount: 4000 })).rejects.toMatchObject({
    statusCode: 400,
    error: { code: "BAD_REQUEST_ERROR" },
  });

  await expect(sdk.orders.fetch("order_00000000000000")).rejects.toMatchObject({ statusCode: 400 });
});
