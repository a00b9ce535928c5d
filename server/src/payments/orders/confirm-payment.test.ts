import { createHmac } from "node:crypto";
import Fastify from "fastify";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { setup } from "../testing/setup.ts";

async function paidOrder(options: Parameters<typeof setup>[0] = {}) {
  const world = await setup(options);
  const { id } = (await world.order("ada")).body;
  const { razorpay_order_id, razorpay_payment_id, razorpay_signature } = (await world.pay(id)).body;
  return { ...world, id, proof: { razorpay_order_id, razorpay_payment_id, razorpay_signature } };
}

test("three parallel create calls and a poll for one payment: one environment, one token", async () => {
  const { create, proof, id, environments, makeDue, runReconciler, runOrderPoller, rowOf, db } = await paidOrder();
  await makeDue(id);
  runOrderPoller();
  runReconciler();
  const answers = await Promise.all([1, 2, 3].map(() => create("ada", proof)));
  const [environment] = await environments();
  for (const { status, body } of answers) {
    expect(status).toBe(200);
    expect(body).toEqual({
      status: "active",
      message: expect.any(String),
      jupyter_token: environment?.secret,
      environment_id: environment?.id,
      subdomain: "lab-ada",
    });
  }
  expect(await environments()).toHaveLength(1);
  expect(await rowOf(id)).toMatchObject({ status: "fulfilled", hours: 1, usd_net_minor: 40 });
  expect(environment?.expires_at?.getTime()).toBe((environment?.created_at?.getTime() ?? 0) + 3_600_000);
  expect(await db.selectFrom("payments").selectAll().execute()).toHaveLength(1);
  expect((await create("ada", proof)).body.jupyter_token).toBe(environment?.secret);
});

test("C21 a signature that is forged, swapped, upper case, truncated, multibyte or missing: 400, nothing delivered", async () => {
  const { create, proof, environments, gateway, order, pay } = await paidOrder();
  const other = (await pay((await order("ben")).body.id)).body;
  const real = proof.razorpay_signature;
  const byAnotherKey = createHmac("sha256", "guess")
    .update(`${proof.razorpay_order_id}|${proof.razorpay_payment_id}`)
    .digest("hex");
  const swapped = createHmac("sha256", gateway.keySecret)
    .update(`${proof.razorpay_payment_id}|${proof.razorpay_order_id}`)
    .digest("hex");
  const forged = [
    byAnotherKey,
    swapped,
    real.toUpperCase(),
    real.slice(0, 63),
    `${real}0`,
    "é".repeat(64),
    "ü".repeat(32),
    "",
    other.razorpay_signature,
  ];
  for (const razorpay_signature of forged) {
    const { status, body } = await create("ada", { ...proof, razorpay_signature });
    expect([status, body.code, body.money]).toEqual([400, "signature_mismatch", "being_checked"]);
  }
  for (const payload of [{ ...proof, razorpay_signature: undefined }, { ...proof, razorpay_signature: 1 }, {}])
    expect((await create("ada", payload)).body.code).toBe("invalid_request");
  expect(await environments()).toEqual([]);
});

test("C26 the order of one with the payment of another, and a stolen proof", async () => {
  const { create, proof, environments, order, pay, gateway } = await paidOrder();
  const others = (await pay((await order("ben")).body.id)).body;
  const mixed = { ...proof, razorpay_payment_id: others.razorpay_payment_id };
  expect((await create("ada", mixed)).body.code).toBe("signature_mismatch");
  expect((await create("ada", { ...mixed, razorpay_signature: others.razorpay_signature })).body.code).toBe(
    "signature_mismatch",
  );
  // A valid signature, but the payment names another order.
  const razorpay_signature = createHmac("sha256", gateway.keySecret)
    .update(`${mixed.razorpay_order_id}|${mixed.razorpay_payment_id}`)
    .digest("hex");
  expect((await create("ada", { ...mixed, razorpay_signature })).body.code).toBe("signature_mismatch");
  const stolen = await create("ben", proof, { subdomain: "lab-ada" });
  const unknown = await create("ben", { ...proof, razorpay_order_id: "order_00000000000000" });
  expect([stolen.status, stolen.body]).toEqual([404, unknown.body]);
  expect((await create("ben", proof, { user_id: "ada", subdomain: "lab-ada" })).status).toBe(403);
  expect(await environments()).toEqual([]);
});

test("C27 an id that is a path is refused before it is sent anywhere", async () => {
  const { create, proof, errors } = await paidOrder();
  for (const razorpay_payment_id of ["../orders/x", "pay_a/../b", "pay?x", "%2e%2e", "", "a".repeat(65), "pay_\u0000"])
    expect((await create("ada", { ...proof, razorpay_payment_id })).body.code).toBe("invalid_request");
  expect(errors).toEqual([]);
});

test("a body that differs from the order is refused, whatever was paid (G6, G102)", async () => {
  const { create, proof, environments } = await paidOrder();
  for (const change of [
    { gpu_count: 8 },
    { duration: 720 },
    { subdomain: "other" },
    { container_type: "pytorch" },
  ] as const) {
    const { status, body } = await create("ada", proof, change);
    expect([status, body.code, body.money]).toEqual([409, "request_changed", "being_checked"]);
  }
  expect(await environments()).toEqual([]);
});

test("C28 a proof of a payment that is only authorized, failed or created", async () => {
  const { create, order, addPayment, gateway, environments } = await setup();
  const { id } = (await order("ada")).body;
  const proofOf = (paymentId: string) => ({
    razorpay_order_id: id,
    razorpay_payment_id: paymentId,
    razorpay_signature: createHmac("sha256", gateway.keySecret).update(`${id}|${paymentId}`).digest("hex"),
  });
  for (const [state, money] of [
    ["created", "being_checked"],
    ["failed", "nothing_taken"],
    ["authorized", "being_checked"],
  ] as const) {
    const { status, body } = await create("ada", proofOf(await addPayment(id, { status: state })));
    expect([status, body.code, body.money]).toEqual([409, "payment_not_captured", money]);
  }
  expect((await create("ada", proofOf("pay_00000000000000"))).body.code).toBe("signature_mismatch");
  expect(await environments()).toEqual([]);
});

test("C38 delivery fails for good: one refund, one credit of two hours, GPUs and name free, and the reply names the money's state (G14)", async () => {
  const { create, proof, id, driver, runReconciler, runRefundSender, rowOf, refundsOf, openLeases, db } =
    await paidOrder({
      giveUpAfterSeconds: 2,
    });
  driver.failNext("start", "unavailable", 1000);
  runReconciler();
  const answer = await create("ada", proof);
  expect([answer.status, answer.body.code, answer.body.money]).toEqual([409, "not_delivered", "refund_started"]);
  runRefundSender();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("refunded");
  expect(await refundsOf()).toMatchObject([{ reason: "not_delivered", amount_minor: 40, status: "processed" }]);
  expect(await db.selectFrom("embedded_gateway_refunds").select("amount_minor").execute()).toEqual([
    { amount_minor: 40 },
  ]);
  expect(await db.selectFrom("time_credits").selectAll().execute()).toMatchObject([
    { gpu_hours: 4, order_id: (await rowOf(id)).id, used_by_order: null },
  ]);
  expect(await rowOf(id)).toMatchObject({ usd_net_minor: 0, hours: 0 });
  expect(await openLeases()).toEqual([]);
  expect(await db.selectFrom("subdomain_claims").selectAll().execute()).toEqual([]);
  expect((await create("ada", proof)).body.money).toBe("refunded");
});

test("delivered later than ten minutes: two hours more, and an open credit is used once (G15)", async () => {
  const { create, proof, id, order, pay, runReconciler, rowOf, environments, db } = await paidOrder();
  const first = (await rowOf(id)).id;
  await db
    .insertInto("time_credits")
    .values({ id: "c", user_id: "ada", order_id: first, gpu_hours: 4, reason: "not_delivered", used_by_order: null })
    .execute();
  const answer = create("ada", proof);
  await expect.poll(async () => (await rowOf(id)).status).toBe("paid");
  await db.updateTable("orders").set({ deliver_by: sql`now() - interval '1 second'` }).execute();
  runReconciler();
  expect((await answer).body.status).toBe("active");
  const [environment] = await environments();
  expect(environment?.expires_at?.getTime()).toBe((environment?.created_at?.getTime() ?? 0) + 5 * 3_600_000);
  expect((await rowOf(id)).hours).toBe(5);
  const next = (await pay((await order("ada", { subdomain: "second" })).body.id)).body;
  expect((await create("ada", next, { subdomain: "second" })).body.status).toBe("active");
  expect((await rowOf(next.razorpay_order_id)).hours).toBe(1);
});

test("a call that is waiting at shutdown answers that it is still starting (G72)", async () => {
  const { create, proof, app, id, rowOf } = await paidOrder();
  const answer = create("ada", proof);
  await expect.poll(async () => (await rowOf(id)).status).toBe("paid");
  await Promise.all([app.close(), answer]);
  expect((await answer).body).toMatchObject({
    status: "pending",
    jupyter_token: expect.stringMatching(/^[0-9a-f]{32}$/),
  });
});

test("the provider is unreachable: 503 with Retry-After, and the money's state is being checked", async () => {
  let target = "";
  let gone = false;
  const between = async (gatewayUrl: string) => {
    target = gatewayUrl;
    const proxy = Fastify();
    proxy.removeAllContentTypeParsers();
    proxy.addContentTypeParser("*", { parseAs: "string" }, (_, body, done) => done(null, body));
    proxy.all("/*", async (request, reply) => {
      if (gone) return reply.code(502).type("text/html").send("<h1>Bad gateway</h1>");
      const { authorization = "", "content-type": type = "application/json" } = request.headers;
      const body = request.method === "GET" ? null : String(request.body);
      const answer = await fetch(`${target}${request.url}`, {
        method: request.method,
        headers: { authorization, "content-type": type },
        body,
      });
      return reply
        .code(answer.status)
        .type("application/json")
        .send(await answer.text());
    });
    onTestFinished(() => proxy.close());
    return proxy.listen({ host: "127.0.0.1", port: 0 });
  };
  const { create, proof, environments, clear, id, errors } = await paidOrder({ between });
  gone = true;
  for (const answer of [await create("ada", proof), await clear("ada", id)]) {
    expect([answer.status, answer.body.code, answer.body.money]).toEqual([503, "unavailable", "being_checked"]);
    expect(answer.headers["retry-after"]).toBe("10");
    expect(answer.body.message).not.toContain("Bad gateway");
  }
  expect(errors).toHaveLength(2);
  expect(await environments()).toEqual([]);
});
