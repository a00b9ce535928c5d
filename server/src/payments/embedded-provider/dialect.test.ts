import { expect, test } from "vitest";
import { setup } from "../testing/setup.ts";

/** A captured payment of USD 2.40, and the merchant's calls. */
async function open() {
  const world = await setup();
  const { asMerchant: call, pay } = world;
  const request = { amount: 240, currency: "USD", payment: { capture: "automatic" } };
  const order = (await call("POST", "/orders", request)).body;
  const paymentId = (await pay(order.id)).body.razorpay_payment_id;
  const refund = (body: object, key?: string) =>
    call("POST", `/payments/${paymentId}/refund`, body, key ? { "x-refund-idempotency": key } : {});
  return { ...world, call, order, request, paymentId, refund };
}

test("an idempotency key is bound to one request: a repeat returns the same refund, another body is refused", async () => {
  const { refund } = await open();
  const body = { amount: 100, notes: { why: "part" }, receipt: "r1", speed: "normal" };
  const first = await refund(body, "key-of-one-refund");
  expect((await refund(body, "key-of-one-refund")).body.id).toBe(first.body.id);
  for (const other of [{ amount: 90 }, { notes: { why: "else" } }, { receipt: "r2" }, { speed: "optimum" }]) {
    const { status, body: answer } = await refund({ ...body, ...other }, "key-of-one-refund");
    expect([status, answer.error?.code], JSON.stringify(other)).toEqual([400, "BAD_REQUEST_ERROR"]);
  }
});

test("amounts come as text too, notes as numbers or an empty list; more than fifteen notes are refused", async () => {
  const { call, request, refund } = await open();
  const made = await call("POST", "/orders", { ...request, amount: "4000", notes: { hours: 6, plan: "hourly" } });
  expect(made.body).toMatchObject({ amount: 4000, notes: { hours: "6", plan: "hourly" }, offer_id: null });
  expect((await call("POST", "/orders", { ...request, notes: [] })).body.notes).toEqual([]);
  const many = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`n${at}`, "x"]));
  const refused = await call("POST", "/orders", { ...request, notes: many });
  expect([refused.status, refused.body.error.field]).toEqual([400, "notes"]);
  expect((await refund({ amount: "100", speed: "optimum" })).body).toMatchObject({
    ...{ amount: 100, notes: [], speed_requested: "optimum", batch_id: null },
  });
});

test("refunds of a payment come in pages, and orders by whether they were paid", async () => {
  const { call, request, refund, paymentId, order } = await open();
  const ids: string[] = [];
  for (const amount of [10, 20, 30]) ids.unshift((await refund({ amount })).body.id);
  const page = await call("GET", `/payments/${paymentId}/refunds?count=2&skip=1`);
  expect(page.body.items.map(({ id }: { id: string }) => id)).toEqual(ids.slice(1));
  const unpaid = (await call("POST", "/orders", request)).body;
  for (const [authorized, id] of [
    [1, order.id],
    [0, unpaid.id],
  ])
    expect((await call("GET", `/orders?authorized=${authorized}`)).body.items).toMatchObject([{ id }]);
});

test("entities have every documented field; an unknown API key gives the provider's error", async () => {
  const { call, paymentId } = await open();
  const { body } = await call("GET", `/payments/${paymentId}`);
  const fields = ["invoice_id", "international", "description", "card_id", "bank", "wallet", "vpa", "email", "contact"];
  for (const field of [...fields, "notes", "tax", "error_source", "error_step", "acquirer_data"])
    expect(body).toHaveProperty(field);
  for (const field of ["id", "name", "issuer", "emi", "sub_type", "token_iin"]) expect(body.card).toHaveProperty(field);
  const { body: refused } = await call("GET", "/orders", undefined, { authorization: "Basic eDp5" });
  expect(refused.error).toMatchObject({ code: "BAD_REQUEST_ERROR", source: "NA", step: "NA", reason: "NA" });
});
