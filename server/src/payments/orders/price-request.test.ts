import { expect, test } from "vitest";
import { containerRequest, orderBody } from "../testing/buyer.ts";
import { setup } from "../testing/setup.ts";

const createOrder = "/docker/payments/create_order";

/** Requests of a hostile browser, and checks that they had no effect. */
async function hostile() {
  const { post, db, openLeases } = await setup();
  const body = orderBody("ada");
  const { container_request: container, payment_request: payment } = body;
  return {
    body,
    payment: (change: object) => ({ ...body, payment_request: { ...payment, ...change } }),
    container(change: object) {
      const container_request = { ...container, ...change };
      return { container_request, payment_request: { ...payment, container_request } };
    },
    place: (payload: object) => post(createOrder, "ada", payload),
    async refusedWhole(payloads: readonly object[]) {
      for (const payload of payloads) {
        const { status, body: refusal } = await post(createOrder, "ada", payload);
        expect([status, refusal.code], JSON.stringify(payload)).toEqual([400, "invalid_request"]);
      }
    },
    async nothingCreated() {
      for (const table of ["orders", "subdomain_claims", "embedded_gateway_orders"] as const)
        expect(await db.selectFrom(table).selectAll().execute()).toEqual([]);
      expect(await openLeases()).toEqual([]);
    },
  };
}

test("C1 another amount than the price: refused with a message, nothing created", async () => {
  const { payment, place, refusedWhole, nothingCreated } = await hostile();
  for (const amount of [0.01, 0.4000001, -0.4, 40, 1e300]) {
    const { status, body: refusal } = await place(payment({ amount }));
    expect([amount, status, refusal.code]).toEqual([amount, 409, "price_changed"]);
    expect(refusal).toMatchObject({
      status: "error",
      message: expect.stringContaining("$0.40"),
      detail: refusal.message,
    });
  }
  await refusedWhole([payment({ amount: "0.4" }), payment({ amount: null })]);
  await nothingCreated();
});

test("C2 a GPU count that is not offered: refused, nothing created", async () => {
  const { container, refusedWhole, nothingCreated } = await hostile();
  await refusedWhole([3, 8.0001, "2", -1, 1e9, 0, null, [2]].map((gpu_count) => container({ gpu_count })));
  await nothingCreated();
});

test("C3 a duration that is not offered: refused, nothing created", async () => {
  const { container, refusedWhole, nothingCreated } = await hostile();
  // JSON has no NaN: a browser sends null, a script the text.
  await refusedWhole([2, Number.NaN, "NaN", 168.5, 0, -1, null].map((duration) => container({ duration })));
  await nothingCreated();
});

test("C4 another currency, its lower case, and the dollar figure as rupees: refused, nothing created", async () => {
  const { payment, place, refusedWhole, nothingCreated } = await hostile();
  await refusedWhole(["EUR", "usd", "", null].map((currency) => payment({ currency })));
  const { status, body: refusal } = await place(payment({ currency: "INR" }));
  expect([status, refusal.code]).toEqual([409, "price_changed"]);
  expect(refusal.message).toContain("\u20b935");
  await nothingCreated();
});

test("a body of another shape: refused, nothing created", async () => {
  const { container, refusedWhole, nothingCreated } = await hostile();
  await refusedWhole([
    container({ container_type: "windows" }),
    container({ subdomain: "a\u0000b" }),
    container({ user_id: "" }),
    {},
    [],
    { container_request: null },
    JSON.parse('{"__proto__": {"user_id": "ada"}}'),
  ]);
  await nothingCreated();
});

test("C5 another user's id in any of the three places: 403", async () => {
  const { body, payment, place, nothingCreated } = await hostile();
  const foreign = containerRequest("ben");
  for (const payload of [
    { ...body, container_request: foreign },
    payment({ user_id: "ben" }),
    payment({ container_request: foreign }),
  ])
    expect((await place(payload)).status).toBe(403);
  await nothingCreated();
});

test("C6 the container request inside the payment request differs: refused", async () => {
  const { body, payment, refusedWhole, nothingCreated } = await hostile();
  await refusedWhole(
    [{ gpu_count: 8 }, { duration: 6 }, { subdomain: "other" }, { container_type: "pytorch" }].map((change) =>
      payment({ container_request: { ...body.container_request, ...change } }),
    ),
  );
  await nothingCreated();
});
