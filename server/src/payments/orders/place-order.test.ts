import { sql } from "kysely";
import { expect, test } from "vitest";
import { newLease } from "../../database/work-queue.ts";
import { markReachable, markUnreachable } from "../../environments/hosts/register-host.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { orderBody } from "../testing/buyer.ts";
import { holdAccount, setup } from "../testing/setup.ts";
import { endUnpaidOrder } from "./end-unpaid-order.ts";
import { storeOrder } from "./place-order.ts";
import type { Draft } from "./reserve-order.ts";

test("an order returns the dialog's options and holds GPUs and name", async () => {
  const { order, rowOf, openLeases, gateway } = await setup();
  const { status, body } = await order("ada", { gpu_count: 2, duration: 6 }, "INR");
  expect(status).toBe(200);
  expect(body).toEqual({
    status: "success",
    message: expect.any(String),
    key_id: gateway.keyId,
    amount: 21200,
    currency: "INR",
    name: "Berth",
    description: "Jupyter environment, 2 slots, 6 hours",
    id: expect.stringMatching(/^order_[A-Za-z0-9]{14}$/),
    theme: { color: "#0f1517" },
    timeout: expect.any(Number),
  });
  const row = await rowOf(body.id);
  expect(row).toMatchObject({ status: "open", usd_minor: 240, inr_paise_per_usd: 8822, lease_token: null });
  const days = (to: Date) => (Number(to) - Number(row.created_at)) / 86_400_000;
  expect([days(row.watch_until), days(row.hold_until) * 1440]).toEqual([5, 15]);
  expect(await openLeases()).toHaveLength(2);
});

test("an invalid subdomain, and a type that nothing can run, are refused with a message", async () => {
  const { order, db, openLeases } = await setup();
  expect((await order("ada", { subdomain: " " })).body.message).toBe("Please enter a subdomain name to continue");
  expect((await order("ada", { subdomain: "admin" })).body.message).toBe("This name is reserved");
  expect((await order("ada", { subdomain: "No_Good" })).status).toBe(400);
  const command = "Run npm run operator -- prepare pytorch";
  const message = "Not offered here yet";
  await db
    .insertInto("host_images")
    .values({ host_id: "local", container_type: "pytorch", state: "unavailable", message: command, percent: null })
    .execute();
  expect((await order("ada", { container_type: "pytorch" })).body).toMatchObject({ code: "not_prepared", message });
  expect((await order("ada", { container_type: "tensorflow" })).status).toBe(200);
  await sql`insert into hosts (id, kind) values ('other', 'fake')`.execute(db);
  await sql`insert into gpus (id, host_id, kind) values ('gpu-1', 'other', 'gpu'), ('gpu-2', 'other', 'gpu')`.execute(
    db,
  );
  const there = { host_id: "other", container_type: "pytorch", state: "ready" as const, percent: 100 };
  await db.insertInto("host_images").values(there).execute();
  await markUnreachable(db, "other");
  expect((await order("ben", { container_type: "pytorch" })).body).toMatchObject({ code: "not_prepared", message });
  await markReachable(db, "other");
  const large = { container_type: "pytorch", gpu_count: 4 } as const;
  expect((await order("ben", large)).body).toMatchObject({ code: "not_prepared", message });
  expect((await order("ben", { container_type: "pytorch" })).status).toBe(200);
  expect(await openLeases()).toMatchObject([{}, {}, { gpu_id: "gpu-1" }, { gpu_id: "gpu-2" }]);
});

test("C7 below the provider's minimum: a clear message, no order", async () => {
  const { order, db } = await setup({ keys: { minimumMinor: { USD: 50, INR: 100 } } });
  const { status, body } = await order("ada");
  expect([status, body.code]).toEqual([422, "below_minimum"]);
  expect(body.message).toContain("$0.50");
  expect(await db.selectFrom("orders").selectAll().execute()).toEqual([]);
  expect((await order("ada", {}, "INR")).status).toBe(200);
});

test("C7 exactly the provider's minimum is sold", async () => {
  const { order } = await setup({ keys: { minimumMinor: { USD: 40, INR: 100 } } });
  expect((await order("ada")).status).toBe(200);
});

test("C9 ten clicks on Launch: one open order, one order at the provider", async () => {
  const { order, db } = await setup();
  const answers = await Promise.all(Array.from({ length: 10 }, () => order("ada")));
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
  expect(answers[0]?.status).toBe(200);
  expect(await db.selectFrom("orders").selectAll().execute()).toHaveLength(1);
  expect(await db.selectFrom("embedded_gateway_orders").selectAll().execute()).toHaveLength(1);
});

test("C10 two users, one name, at once: one wins, before paying", async () => {
  const { order } = await setup();
  const answers = await Promise.all([order("ada", { subdomain: "same" }), order("ben", { subdomain: "same" })]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(answers.find(({ status }) => status === 409)?.body.code).toBe("subdomain_taken");
});

test("the last GPUs, twelve buyers at once: one wins, the others get the time of the next free GPUs", async () => {
  const { order, db } = await setup({ slots: 4 });
  const users = Array.from({ length: 12 }, (_, index) => `u${index}`);
  const answers = await Promise.all(users.map((user) => order(user, { gpu_count: 4 })));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const { status, body } of answers.filter((answer) => answer.status !== 200)) {
    expect([status, body.code]).toEqual([409, "out_of_stock"]);
    expect(body.message).toMatch(/free at|expected/);
  }
  expect(await db.selectFrom("orders").select("status").execute()).toEqual([{ status: "open" }]);
});

test("another request supersedes an unpaid order and releases its hold", async () => {
  const { order, rowOf, openLeases, db } = await setup();
  const first = (await order("ada", { gpu_count: 8 })).body.id;
  const second = (await order("ada", { gpu_count: 6, subdomain: "other" })).body.id;
  expect(second).not.toBe(first);
  expect((await rowOf(first)).status).toBe("cancelled");
  expect(await openLeases()).toHaveLength(6);
  expect(await db.selectFrom("subdomain_claims").select("name").execute()).toEqual([{ name: "other" }]);
});

test("an order that was paid meanwhile is not ended by a stale caller", async () => {
  const { order, pay, payments, provider, rowOf, openLeases } = await setup();
  const { id } = (await order("ada")).body;
  await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
  expect(await endUnpaidOrder(payments, (await rowOf(id)).id, "cancelled")).toBe(false);
  expect((await rowOf(id)).status).toBe("paid");
  expect(await openLeases()).toHaveLength(2);
});

test("the same request after the hold gets a new order, because the dialog needs time to pay", async () => {
  const { order, rowOf, db } = await setup();
  const { id } = (await order("ada")).body;
  await db.updateTable("orders").set({ hold_until: sql`now() - interval '1 second'` }).execute();
  const again = await order("ada");
  expect(again.status).toBe(200);
  expect(again.body.id).not.toBe(id);
  expect((await rowOf(id)).status).toBe("cancelled");
});

test("two different requests at the same moment: each answer is of its own request", async () => {
  const { order } = await setup();
  const sizes = [1, 4, 2, 6] as const;
  const answers = await Promise.all(sizes.map((gpu_count) => order("ada", { gpu_count })));
  const amounts = { 1: 20, 2: 40, 4: 75, 6: 105 };
  for (const [index, { status, body }] of answers.entries())
    if (status === 200) expect(body.amount).toBe(amounts[sizes[index] ?? 1]);
  expect(answers.some(({ status }) => status === 200)).toBe(true);
});

test("a late caller, and an order of another amount, open no draft", async () => {
  const { order, payments, db } = await setup();
  await order("ada");
  const draft = { status: "draft" as const, gateway_order_id: null, ...newLease({ leaseSeconds: 30 }) };
  await db.updateTable("orders").set(draft).execute();
  const row = (await db.selectFrom("orders").selectAll().executeTakeFirstOrThrow()) as Draft;
  const made = { id: "order_made", receipt: row.id, currency: "USD", status: "created" } as const;
  await expect(storeOrder(payments, row, { ...made, amountMinor: 39 })).rejects.toThrow("another amount");
  await db.updateTable("orders").set({ lease_token: sql`gen_random_uuid()` }).execute();
  await expect(storeOrder(payments, row, { ...made, amountMinor: 40 })).rejects.toThrow("took too long");
  expect(await db.selectFrom("orders").select("status").execute()).toEqual([{ status: "draft" }]);
});

test("with a payment in flight another request is refused, and the paid one is settled", async () => {
  const { order, addPayment, rowOf, pay, environments } = await setup();
  const { id } = (await order("ada")).body;
  await addPayment(id, { status: "created" });
  const refused = await order("ada", { gpu_count: 4 });
  expect([refused.status, refused.body.code]).toEqual([409, "order_in_payment"]);
  expect((await rowOf(id)).status).toBe("open");
  await pay(id);
  expect((await order("ada", { gpu_count: 4 })).body.code).toBe("order_in_payment");
  expect((await rowOf(id)).status).toBe("paid");
  expect(await environments()).toHaveLength(1);
});

test("C41 a flood of different orders by one user is capped, and so are GPUs and launches", async () => {
  const { order, pay, payments, provider, runReconciler, environments, db } = await setup({
    caps: { ordersPerMinute: 5, gpusPerUser: 4, launchesPerUser: 1 },
  });
  expect((await order("ada", { gpu_count: 6 })).body.code).toBe("too_many_gpus");
  const flood = [];
  for (let n = 0; n < 7; n++) flood.push(await order("ben", { subdomain: `flood-${n}` }));
  expect(flood.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429]);
  expect(flood[6]?.headers["retry-after"]).toBe("60");
  const { id } = (await order("ada")).body;
  await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
  expect((await order("ada", { subdomain: "second", gpu_count: 1 })).status).toBe(429);
  expect((await order("eve")).status).toBe(200);
  runReconciler();
  await expect.poll(async () => (await environments())[0]?.status, { timeout: 10_000 }).toBe("active");
  expect((await order("ada", { subdomain: "second", gpu_count: 4 })).body.code).toBe("too_many_gpus");
  // Released leases do not count.
  await sql`insert into gpu_leases (id, gpu_id, holder_kind, holder_id, released_at)
    select 'past', min(gpu_id), 'environment', min(holder_id), now() from gpu_leases where holder_kind = 'environment'`.execute(
    db,
  );
  expect((await order("ada", { subdomain: "second", gpu_count: 2 })).status).toBe(200);
});

test("an order that was opened before its account was held is not returned again", async () => {
  const { order, db } = await setup();
  expect((await order("ada")).status).toBe(200);
  await holdAccount(db, "ada");
  const refused = await order("ada");
  expect([refused.status, refused.body.code]).toEqual([403, "account_held"]);
});

test("C42 clear: another user's order and a random id give the same 404, a paid one stays, an unpaid one ends once", async () => {
  const { order, clear, pay, rowOf, openLeases } = await setup();
  const { id } = (await order("ada")).body;
  const foreign = await clear("ben", id);
  const random = await clear("ben", "order_00000000000000");
  expect([foreign.status, foreign.body]).toEqual([404, random.body]);
  for (const odd of ["..%2Forders%2Fx", "%00", "a".repeat(90)]) expect((await clear("ada", odd)).status).toBe(404);
  expect((await rowOf(id)).status).toBe("open");
  expect((await clear("ada", id)).body.cleared).toBe(true);
  expect((await clear("ada", id)).body.cleared).toBe(true);
  expect(await openLeases()).toEqual([]);
  const paid = (await order("ada")).body.id;
  await pay(paid);
  expect((await clear("ada", paid)).body).toEqual({ status: "success", cleared: false });
  expect((await rowOf(paid)).status).toBe("paid");
  expect((await clear("ada", paid)).body.cleared).toBe(false);
});

test("an unpaid order is listed to its owner alone, as long as it can be paid (G333)", async () => {
  const { order, clear, db, app } = await setup();
  const unpaid = async (user: string) =>
    (await app.inject({ url: "/unpaid-orders", headers: { "x-user": user } })).json().orders;
  expect(await unpaid("ada")).toEqual([]);
  const { id } = (await order("ada", { gpu_count: 2, duration: 6 }, "INR")).body;
  expect(await unpaid("ada")).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-z]{25}$/),
      payment_order: id,
      ...{ extends: null, container_type: "jupyter", subdomain: "lab-ada", gpu_count: 2, duration_hours: 6 },
      ...{ amount: 212, currency: "INR", held_until: expect.stringMatching(/Z$/) },
    },
  ]);
  expect(await unpaid("ben")).toEqual([]);
  await clear("ada", id);
  expect(await unpaid("ada")).toEqual([]);
  await order("ada");
  await db.updateTable("orders").set({ hold_until: sql`now() - interval '1 second'` }).execute();
  expect(await unpaid("ada")).toEqual([]);
});

test("C33 dismissed while the bank's page is open: kept, and delivered once it is paid", async () => {
  const { order, clear, addPayment, db, rowOf, openLeases, makeDue, runOrderPoller } = await setup();
  const { id } = (await order("ada")).body;
  const paymentId = await addPayment(id, { status: "created" });
  expect((await clear("ada", id)).body).toEqual({ status: "success", cleared: false });
  expect((await rowOf(id)).status).toBe("open");
  expect(await openLeases()).toHaveLength(2);
  await db.updateTable("embedded_gateway_payments").set({ status: "captured" }).where("id", "=", paymentId).execute();
  await makeDue(id);
  runOrderPoller();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("paid");
});

test("real payments need a confirmed address; test payments do not (G52)", async () => {
  const ask = async (mode: "live" | "test") => {
    const { app } = await setup({ keys: { mode } });
    const payload = orderBody("ada");
    const post = (headers: Record<string, string>) =>
      app.inject({
        method: "POST",
        url: "/docker/payments/create_order",
        headers: { "x-user": "ada", ...headers },
        payload,
      });
    return [await post({ "x-unverified": "yes" }), await post({})].map(({ statusCode, ...answer }) => [
      statusCode,
      answer.json().code,
    ]);
  };
  expect(await ask("live")).toEqual([
    [403, "email_unverified"],
    [200, undefined],
  ]);
  expect(await ask("test")).toEqual([
    [200, undefined],
    [200, undefined],
  ]);
});
