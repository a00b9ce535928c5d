import { defaultCatalogue, type PriceVersion } from "@berth/contract";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { holdAccount, setup as money } from "../testing/setup.ts";
import { syncDispute } from "./dispute-poller.ts";
import { settlePayment } from "./settle-payment.ts";

/** A running environment of ada's with two GPUs, and six hours more for it that are ordered and not paid. */
async function setup() {
  const shop = await money();
  const { db, order, pay, create, post, runReconciler, payments, provider } = shop;
  runReconciler();
  const { id } = (await order("ada")).body;
  const proof = (await pay(id)).body;
  expect((await create("ada", proof)).body.status).toBe("active");
  const environment = () => db.selectFrom("environments").selectAll().executeTakeFirstOrThrow();
  const { id: environmentId } = await environment();
  return {
    ...shop,
    paid: { id, paymentId: proof.razorpay_payment_id },
    environment,
    extend: (duration = 6, amount = 2.4) =>
      post(`/environments/${environmentId}/extend`, "ada", { duration, amount, currency: "USD" }),
    async payFor(orderId: string) {
      return settlePayment(payments, await provider.payment((await pay(orderId)).body.razorpay_payment_id));
    },
    ended: (orderId: string, minutesAgo: number) =>
      sql`update orders set closed_at = now() - make_interval(mins => ${minutesAgo})
        where gateway_order_id = ${orderId}`.execute(db),
  };
}

test("hours ordered before the account was put on hold are paid after it: the money goes back (G314)", async () => {
  const { extend, payFor, environment, refundsOf, rowOf, db } = await setup();
  const before = await environment();
  const { id } = (await extend()).body;
  await holdAccount(db, "ada");
  expect(await payFor(id)).toBe("refunding");
  expect((await environment()).expires_at).toEqual(before.expires_at);
  expect(await refundsOf()).toMatchObject([{ reason: "late_payment", amount_minor: 240 }]);
  expect((await rowOf(id)).status).toBe("refunding");
});

test("an environment ordered before the account was put on hold is paid after it: nothing starts (G314)", async () => {
  const { order, payFor, environments, refundsOf, openLeases, db } = await setup();
  const { id } = (await order("ben")).body;
  await holdAccount(db, "ben");
  expect(await payFor(id)).toBe("refunding");
  expect(await environments()).toMatchObject([{ user_id: "ada" }]);
  expect(await refundsOf()).toMatchObject([{ reason: "late_payment", amount_minor: 40 }]);
  expect(await openLeases()).toHaveLength(2);
});

test("a lost dispute ends the account's open order and frees what it held (G314)", async () => {
  const { order, paid, asMerchant, payments, rowOf, openLeases } = await setup();
  const { id } = (await order("ada", { subdomain: "other-lab", gpu_count: 1 })).body;
  expect(await openLeases()).toHaveLength(3);
  const dispute = (await asMerchant("POST", "/test/disputes", { payment_id: paid.paymentId })).body.id;
  await syncDispute(payments, dispute);
  expect((await rowOf(id)).status).toBe("open");
  await asMerchant("POST", `/test/disputes/${dispute}`, { status: "lost" });
  await syncDispute(payments, dispute);
  expect(await rowOf(id)).toMatchObject({ status: "cancelled", closed_at: expect.any(Date) });
  const { rows } = await sql`select 1 from gpu_leases l join orders o on o.id = l.holder_id
    where l.released_at is null and o.gateway_order_id = ${id}`.execute(payments.db);
  expect(rows).toEqual([]);
});

test("an order that ended unpaid is settled within an hour of its end; later the money goes back (G314)", async () => {
  const { extend, order, clear, payFor, ended, environments, environment, refundsOf } = await setup();
  const expiry = async () => Number((await environment()).expires_at);
  const before = await expiry();
  const soon = (await extend()).body.id;
  await clear("ada", soon);
  await ended(soon, 59);
  expect(await payFor(soon)).toBe("settled");
  expect((await expiry()) - before).toBe(6 * 3_600_000);
  const late = (await extend()).body.id;
  await clear("ada", late);
  await ended(late, 61);
  expect(await payFor(late)).toBe("refunding");
  const launch = (await order("ben")).body.id;
  await clear("ben", launch);
  await ended(launch, 61);
  expect(await payFor(launch)).toBe("refunding");
  expect(await environments()).toMatchObject([{ user_id: "ada" }]);
  expect((await expiry()) - before).toBe(6 * 3_600_000);
  expect((await refundsOf()).map(({ reason, amount_minor }) => `${reason} ${amount_minor}`).sort()).toEqual([
    "late_payment 240",
    "late_payment 40",
  ]);
});

test.each([
  ["has risen", (version: PriceVersion) => version.rows.map((row) => ({ ...row, hourly: row.hourly * 10 }))],
  ["is no longer there", (version: PriceVersion) => version.rows.filter(({ gpus }) => gpus !== 2)],
])("an order that ended unpaid buys nothing once its price %s (G314)", async (_, rowsOf) => {
  const { extend, clear, payFor, environment, refundsOf, payments } = await setup();
  const before = await environment();
  const { id } = (await extend()).body;
  await clear("ada", id);
  const [first] = defaultCatalogue.prices as [PriceVersion];
  Object.assign(payments, { catalogue: { ...defaultCatalogue, prices: [{ ...first, rows: rowsOf(first) }] } });
  expect(await payFor(id)).toBe("refunding");
  expect((await environment()).expires_at).toEqual(before.expires_at);
  expect(await refundsOf()).toMatchObject([{ reason: "late_payment", amount_minor: 240 }]);
});

test("a payment authorized an hour after its order ended is not captured (G314)", async () => {
  const { order, clear, ended, addPayment, makeDue, runOrderPoller, rowOf, openLeases, db } = await setup();
  const { id } = (await order("ben")).body;
  await clear("ben", id);
  await ended(id, 61);
  const paymentId = await addPayment(id, { status: "authorized" });
  await makeDue(id);
  runOrderPoller();
  await expect.poll(async () => Number((await rowOf(id)).due_at) > Date.now()).toBe(true);
  const { status } = await db
    .selectFrom("embedded_gateway_payments")
    .select("status")
    .where("id", "=", paymentId)
    .executeTakeFirstOrThrow();
  expect([status, (await openLeases()).length]).toEqual(["authorized", 2]);
});

test("a sixth unpaid order for more hours within a day is refused with the time of the next (G314)", async () => {
  const { extend, payFor, db } = await setup();
  const choices = [1, 6, 12, 24, 168].map((hours) => [hours, (hours * 40) / 100] as const);
  for (const [hours, amount] of choices) expect((await extend(hours, amount)).status, `${hours}`).toBe(200);
  const sixth = await extend(1, 0.4);
  expect([sixth.status, sixth.body.code, sixth.body.money]).toEqual([429, "rate_limited", "nothing_taken"]);
  expect(sixth.body.message).toMatch(
    /^5 orders for more hours were opened today and not paid\. You can order again at .+ UTC\.$/,
  );
  await sql`update orders set created_at = created_at - interval '1 day' where duration_hours = 6`.execute(db);
  const again = await extend(1, 0.4);
  expect(again.status).toBe(200);
  expect(await payFor(again.body.id)).toBe("settled");
});
