import { sql } from "kysely";
import { expect, test } from "vitest";
import { markUnreachable } from "../../environments/hosts/register-host.ts";
import { recordLog } from "../../logging/testing/record-log.ts";
import { setup } from "../testing/setup.ts";
import { settlePayment } from "./settle-payment.ts";

test("C18 64 observers of one payment: one environment, one payment row", async () => {
  const { order, pay, payments, provider, environments, db, rowOf, openLeases } = await setup();
  const { id } = (await order("ada")).body;
  const proof = (await pay(id)).body;
  const payment = await provider.payment(proof.razorpay_payment_id);
  const outcomes = await Promise.all(Array.from({ length: 64 }, () => settlePayment(payments, payment)));
  expect(outcomes.filter((outcome) => outcome === "settled")).toHaveLength(1);
  expect(outcomes.filter((outcome) => outcome === "recorded")).toHaveLength(63);
  expect(await environments()).toHaveLength(1);
  expect(await db.selectFrom("payments").selectAll().execute()).toMatchObject([
    { settles_order: true, status: "captured" },
  ]);
  const row = await rowOf(id);
  expect(row).toMatchObject({ status: "paid", usd_net_minor: 40, hours: 1 });
  expect(Number(row.deliver_by) - Number(row.paid_at)).toBe(10 * 60_000);
  expect((await openLeases()).map(({ holder_kind }) => holder_kind)).toEqual(["environment", "environment"]);
});

test("C32 a payment only moves forward: failed, then authorized, then captured, and back changes nothing", async () => {
  const { order, pay, payments, provider, db, rowOf } = await setup();
  const { id } = (await order("ada")).body;
  const payment = await provider.payment((await pay(id)).body.razorpay_payment_id);
  const stages = ["failed", "authorized", "captured", "authorized", "failed"] as const;
  const outcomes = [];
  for (const status of stages) {
    const outcome = await settlePayment(payments, { ...payment, status });
    const row = await db.selectFrom("payments").select("status").executeTakeFirst();
    outcomes.push([outcome, row?.status]);
  }
  expect(outcomes).toEqual([
    ["recorded", "failed"],
    ["recorded", "authorized"],
    ["settled", "captured"],
    ["recorded", "captured"],
    ["recorded", "captured"],
  ]);
  expect((await rowOf(id)).status).toBe("paid");
});

test("C29 one minor unit less or more, or another currency: all of it goes back, nothing is delivered", async () => {
  const { order, addPayment, payments, provider, rowOf, refundsOf, environments, openLeases } = await setup();
  for (const [user, change] of [
    ["ada", { amount_minor: 39 }],
    ["ben", { currency: "INR" }],
    ["eve", { amount_minor: 41 }],
  ] as const) {
    const { id } = (await order(user)).body;
    const payment = await provider.payment(await addPayment(id, change));
    expect(await settlePayment(payments, payment)).toBe("refunding");
    expect(await rowOf(id)).toMatchObject({ status: "refunding", usd_net_minor: 0, hours: 0 });
  }
  expect((await refundsOf()).map(({ reason, amount_minor, currency }) => [reason, amount_minor, currency])).toEqual([
    ["wrong_amount", 39, "USD"],
    ["wrong_amount", 40, "INR"],
    ["wrong_amount", 41, "USD"],
  ]);
  expect(await environments()).toEqual([]);
  expect(await openLeases()).toEqual([]);
});

test("C31 paid after it was cleared: delivered when name and GPUs are free", async () => {
  const { order, clear, pay, payments, provider, rowOf, environments } = await setup();
  const { id } = (await order("ada")).body;
  expect((await clear("ada", id)).body).toEqual({ status: "success", cleared: true });
  const payment = await provider.payment((await pay(id)).body.razorpay_payment_id);
  expect(await settlePayment(payments, payment)).toBe("settled");
  expect((await rowOf(id)).status).toBe("paid");
  expect(await environments()).toMatchObject([{ subdomain: "lab-ada", status: "pending", gpu_count: 2 }]);
});

test("C31 paid after it was cleared: refunded when the GPUs or the name are taken, and nothing stays held", async () => {
  const { order, clear, pay, payments, provider, rowOf, environments, refundsOf, openLeases, db } = await setup({
    slots: 4,
  });
  const gpusGone = (await order("ada")).body.id;
  await clear("ada", gpusGone);
  expect((await order("ben", { gpu_count: 4 })).status).toBe(200);
  const nameGone = (await order("eve", { subdomain: "lab-x" })).status;
  expect(nameGone).toBe(409);
  const payment = await provider.payment((await pay(gpusGone)).body.razorpay_payment_id);
  expect(await settlePayment(payments, payment)).toBe("refunding");
  expect((await rowOf(gpusGone)).status).toBe("refunding");
  expect(await refundsOf()).toMatchObject([{ reason: "late_payment", amount_minor: 40, status: "queued" }]);
  expect(await environments()).toEqual([]);
  expect(await openLeases()).toHaveLength(4);
  expect(await db.selectFrom("subdomain_claims").select("name").execute()).toEqual([{ name: "lab-ben" }]);
});

test("C31 paid when the host of its GPUs no longer answers: refunded at once where no other has any", async () => {
  const { order, pay, payments, provider, environments, refundsOf, openLeases, db } = await setup();
  const { id } = (await order("ada")).body;
  await markUnreachable(db, "local");
  const payment = await provider.payment((await pay(id)).body.razorpay_payment_id);
  expect(await settlePayment(payments, payment)).toBe("refunding");
  expect(await refundsOf()).toMatchObject([{ reason: "late_payment", amount_minor: 40 }]);
  expect([await environments(), await openLeases()]).toEqual([[], []]);
});

test("C34 two captured payments of one order: one environment, the second goes back", async () => {
  const { order, pay, addPayment, payments, provider, rowOf, environments, refundsOf } = await setup();
  const { id } = (await order("ada")).body;
  const first = await provider.payment((await pay(id)).body.razorpay_payment_id);
  const second = await provider.payment(await addPayment(id));
  const outcomes = await Promise.all([first, second, first, second].map((payment) => settlePayment(payments, payment)));
  expect([...outcomes].sort()).toEqual(["duplicate", "recorded", "recorded", "settled"]);
  expect(await environments()).toHaveLength(1);
  expect(await refundsOf()).toMatchObject([{ reason: "surplus_payment", amount_minor: 40 }]);
  expect(await rowOf(id)).toMatchObject({ status: "paid", usd_net_minor: 40 });
});

test("C31 paid late, the GPUs are taken and the name's hold has lapsed: the name stays as it was, and nothing stays held", async () => {
  const { order, clear, pay, payments, provider, db } = await setup({ slots: 4 });
  const { id } = (await order("ada", { subdomain: "shared", gpu_count: 4 })).body;
  await clear("ada", id);
  expect((await order("ben", { subdomain: "shared", gpu_count: 1 })).status).toBe(200);
  await sql`update subdomain_claims set held_until = now() - interval '5 minutes'`.execute(db);
  const claims = () => db.selectFrom("subdomain_claims").selectAll().execute();
  const before = await claims();
  const payment = await provider.payment((await pay(id)).body.razorpay_payment_id);
  expect(await settlePayment(payments, payment)).toBe("refunding");
  expect(await claims()).toEqual(before);
});

test("a payment that names another order changes neither order", async () => {
  const { order, pay, payments, provider, rowOf, db } = await setup();
  const [mine, other] = [(await order("ada")).body.id, (await order("ben")).body.id];
  const payment = await provider.payment((await pay(mine)).body.razorpay_payment_id);
  await settlePayment(payments, { ...payment, status: "authorized" });
  await expect(settlePayment(payments, { ...payment, orderId: other })).rejects.toThrow("belongs to another order");
  expect([(await rowOf(mine)).status, (await rowOf(other)).status]).toEqual(["open", "open"]);
  expect(await db.selectFrom("payments").select("status").execute()).toEqual([{ status: "authorized" }]);
});

test("a payment of an unknown order is ignored", async () => {
  const { order, pay, payments, provider, db } = await setup();
  const { id } = (await order("ada")).body;
  const payment = await provider.payment((await pay(id)).body.razorpay_payment_id);
  expect(await settlePayment(payments, { ...payment, orderId: "order_00000000000000" })).toBe("unknown_order");
  expect(await db.selectFrom("payments").selectAll().execute()).toEqual([]);
});

test("C45 the name was rented again and has ended; the old payment comes late: it goes back, and the name stays the other user's", async () => {
  const { wake, order, clear, pay, create, payments, provider, runReconciler, environments, refundsOf, db } =
    await setup();
  const { id: old } = (await order("ada", { subdomain: "shared" })).body;
  await clear("ada", old);
  runReconciler();
  const { id } = (await order("ben", { subdomain: "shared" })).body;
  expect((await create("ben", (await pay(id)).body, { subdomain: "shared" })).body.status).toBe("active");
  await db.updateTable("environments").set({ desired: "terminated", due_at: sql`now()` }).execute();
  wake();
  await expect.poll(async () => (await environments())[0]?.status).toBe("terminated");

  const payment = await provider.payment((await pay(old)).body.razorpay_payment_id);
  expect(await settlePayment(payments, payment)).toBe("refunding");
  expect(await refundsOf()).toMatchObject([{ reason: "late_payment", amount_minor: 40 }]);
  expect(await environments()).toMatchObject([{ user_id: "ben" }]);
  expect(await db.selectFrom("subdomain_claims").select(["name", "user_id"]).execute()).toEqual([
    { name: "shared", user_id: "ben" },
  ]);
});

test.each(["owed", "granted"] as const)(
  "C40 one %s credit and two deliveries at once: it is used once",
  async (kind) => {
    const { order, pay, payments, provider, rowOf, runReconciler, db } = await setup();
    const orders: string[] = [];
    for (const subdomain of ["lab-one", "lab-two"]) {
      const { id } = (await order("ada", { subdomain })).body;
      await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
      orders.push(id);
    }
    const [first = ""] = orders;
    const credit = { id: "c", user_id: "ada", gpu_hours: 4 };
    if (kind === "granted")
      await db
        .insertInto("granted_credits")
        .values({ ...credit, source: "operator", note: "" })
        .execute();
    else
      await db
        .insertInto("time_credits")
        .values({ ...credit, order_id: (await rowOf(first)).id, reason: "not_delivered" })
        .execute();
    runReconciler();
    const rows = () => Promise.all(orders.map(rowOf));
    await expect.poll(async () => (await rows()).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    expect((await rows()).map(({ hours }) => hours).sort()).toEqual([1, 3]);
  },
);

test("C47 the database closes all connections while payments settle: retried, each is settled once", async () => {
  const { log, errors: lost } = recordLog();
  const { order, pay, payments, provider, rowOf, environments, db } = await setup({
    database: { log },
  });
  const paid: { id: string; paymentId: string }[] = [];
  for (const user of ["ada", "ben", "eve"]) {
    const { id } = (await order(user)).body;
    paid.push({ id, paymentId: (await pay(id)).body.razorpay_payment_id });
  }
  const seen = await Promise.all(paid.map(({ paymentId }) => provider.payment(paymentId)));
  const outcomes: PromiseSettledResult<unknown>[] = [];
  for (let round = 0; round < 5; round++) {
    const asked = Promise.allSettled(seen.map((payment) => settlePayment(payments, payment)));
    const out = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;
    await out.execute(db).catch(() => undefined);
    outcomes.push(...(await asked));
  }
  expect(outcomes.some(({ status }) => status === "rejected") || lost.length > 0).toBe(true);
  for (const payment of seen)
    await expect.poll(() => settlePayment(payments, payment).catch(() => "")).toBe("recorded");
  expect(await environments()).toHaveLength(3);
  expect(await db.selectFrom("payments").select("status").execute()).toEqual(Array(3).fill({ status: "captured" }));
  for (const { id } of paid) expect((await rowOf(id)).status).toBe("paid");
});
