import { type Catalogue, defaultCatalogue, type PriceVersion } from "@berth/contract";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { readOrder } from "../../billing/read-order.ts";
import { grantRefund } from "../refunds/grant-refund.ts";
import { setup as money } from "../testing/setup.ts";

const first = defaultCatalogue.prices[0] as PriceVersion;
const doubled = first.rows.map((row) => ({ ...row, hourly: row.hourly * 2, monthly: (row.monthly ?? 0) * 2 }));

/** Doubled prices from so many days after the database's day. */
async function catalogueOf(db: Awaited<ReturnType<typeof money>>["db"], days: number): Promise<Catalogue> {
  const { rows } = await sql<{ day: string }>`
    select to_char(now() at time zone 'utc' + make_interval(days => ${days}), 'YYYY-MM-DD') as day`.execute(db);
  return { ...defaultCatalogue, prices: [first, { ...first, rows: doubled, from: rows[0]?.day ?? "" }] };
}

/** Prices that double when `beginDay` is called: the day of the second version comes. */
async function setup(options: Parameters<typeof money>[0] = {}) {
  const shop = await money(options);
  const { db, payments, order, pay, create, runReconciler } = shop;
  Object.assign(payments, { catalogue: await catalogueOf(db, 2) });
  return {
    ...shop,
    async beginDay() {
      Object.assign(payments, { catalogue: await catalogueOf(db, 0) });
    },
    /** Six hours of two GPUs, running. */
    async rent() {
      runReconciler();
      const { id } = (await order("ada", { duration: 6 })).body;
      const { body } = await pay(id);
      expect((await create("ada", body, { duration: 6 })).body.status).toBe("active");
      return id as string;
    },
  };
}

test("an order quoted before the day and paid after it keeps its price; a new one at the old price is refused", async () => {
  const { beginDay, order, pay, create, rowOf, post, request, runReconciler, db } = await setup();
  runReconciler();
  const quoted = (await order("ada")).body;
  expect(quoted.amount).toBe(40);
  await beginDay();
  const { body: proof } = await pay(quoted.id);
  expect((await create("ada", proof)).body.status).toBe("active");
  const row = await rowOf(quoted.id);
  expect(row).toMatchObject({ status: "fulfilled", usd_minor: 40, amount_minor: 40, usd_net_minor: 40 });
  expect(await readOrder(db, "ada", row.id)).toMatchObject({ list_price: 0.4, amount: 0.4 });

  const container_request = request("ben");
  const buy = (amount: number) =>
    post("/docker/payments/create_order", "ben", {
      container_request,
      payment_request: { amount, currency: "USD", user_id: "ben", container_request },
    });
  const refused = await buy(0.4);
  expect([refused.status, refused.body.code, refused.body.message]).toEqual([
    409,
    "price_changed",
    "The price of this environment is $0.80 (0.8 USD). Review the order and try again.",
  ]);
  expect((await buy(0.8)).body.amount).toBe(80);
});

test("more time that was ordered before the day keeps its price; ordered after it, it has the new one", async () => {
  const { beginDay, rent, environments, post, pay, create, rowOf, clear } = await setup();
  await rent();
  const { id = "" } = (await environments())[0] ?? {};
  const extend = (amount: number) =>
    post(`/environments/${id}/extend`, "ada", { duration: 6, amount, currency: "USD" });
  const quoted = (await extend(2.4)).body;
  await beginDay();
  await create("ada", (await pay(quoted.id)).body, { duration: 6 });
  await expect.poll(async () => (await rowOf(quoted.id)).status).toBe("fulfilled");
  expect(await rowOf(quoted.id)).toMatchObject({ amount_minor: 240, hours: 6, extends: id });
  expect((await extend(2.4)).body.code).toBe("price_changed");
  const after = (await extend(4.8)).body;
  expect(after.amount).toBe(480);
  await clear("ada", after.id);
});

test("a refund of unused time is a share of what was paid, not of the prices of its day", async () => {
  const { beginDay, rent, db, payments, rowOf } = await setup();
  const id = await rent();
  await beginDay();
  await sql`update environments set expires_at = now() + interval '3 hours'`.execute(db);
  const author = { actor: "cli:test", reason: "" };
  const granted = await grantRefund({ db, announce: payments.announce, author, orderId: id, message: "" }, "prorated");
  // A second at most passes between the two statements' transactions.
  expect([119, 120]).toContain(granted.amountMinor);
  expect((await rowOf(id)).usd_net_minor).toBe(240 - granted.amountMinor);
});

test("an undelivered order gives back what it cost, and its bonus hours are the same at any price (G107)", async () => {
  const fake = { fail: 1 };
  const { beginDay, order, pay, create, post, request, rowOf, refundsOf, runReconciler } = await setup({
    fake,
    giveUpAfterSeconds: 2,
  });
  runReconciler();
  const failed = (await order("ada")).body;
  const { body: proof } = await pay(failed.id);
  await beginDay();
  await create("ada", proof);
  await expect.poll(async () => (await rowOf(failed.id)).status).toBe("refunding");
  expect(await refundsOf()).toMatchObject([{ reason: "not_delivered", amount_minor: 40 }]);
  fake.fail = 0;
  const container_request = request("ada", { subdomain: "again" });
  const payment_request = { amount: 0.8, currency: "USD", user_id: "ada", container_request };
  const next = await post("/docker/payments/create_order", "ada", { container_request, payment_request });
  await create("ada", (await pay(next.body.id)).body, { subdomain: "again" });
  await expect.poll(async () => (await rowOf(next.body.id)).status).toBe("fulfilled");
  expect(await rowOf(next.body.id)).toMatchObject({ amount_minor: 80, hours: 3 });
});
