import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../database/database.ts";
import { newId } from "../database/new-id.ts";
import { testDatabase } from "../database/testing.ts";
import { settlePayment } from "../payments/settlement/settle-payment.ts";
import { setup } from "../payments/testing/setup.ts";
import { monthsOf, readBilling } from "./read-billing.ts";
import { buildStatement } from "./statement.ts";

interface Bought {
  readonly at: string;
  readonly userId?: string;
  readonly type?: "jupyter" | "pytorch";
  readonly netMinor?: number;
  /** One payment each, in this order. */
  readonly payments?: readonly ("created" | "failed" | "authorized" | "captured")[];
}

/** Inserts an order as settlement leaves it; unpaid without a captured payment. */
async function buy(db: Db, { at, userId = "ada", type = "jupyter", netMinor = 240, payments }: Bought) {
  const id = newId();
  const attempts = payments ?? ["captured"];
  const paid = attempts.includes("captured");
  await db
    .insertInto("orders")
    .values({
      id,
      user_id: userId,
      status: paid ? "fulfilled" : "expired",
      container_type: type,
      subdomain: `lab-${id}`,
      gpu_count: 2,
      duration_hours: 6,
      usd_minor: 240,
      amount_minor: 240,
      currency: "USD",
      inr_paise_per_usd: 8822,
      gateway: "embedded",
      mode: "embedded",
      gateway_order_id: `order_${id}`,
      request_hash: "",
      created_at: new Date(at),
      hold_until: new Date(at),
      watch_until: new Date(at),
      paid_at: paid ? new Date(at) : null,
      usd_net_minor: paid ? netMinor : 0,
      hours: paid ? 6 : 0,
    })
    .execute();
  for (const [index, status] of attempts.entries())
    await db
      .insertInto("payments")
      .values({
        id: newId(),
        order_id: id,
        user_id: userId,
        gateway: "embedded",
        gateway_payment_id: `pay_${index}_${id}`,
        status,
        settles_order: status === "captured",
        amount_minor: 240,
        currency: "USD",
        created_at: new Date(Date.parse(at) + index),
      })
      .execute();
  return id;
}

test("C43 months are UTC to the millisecond, whatever the time zone of the database", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await buy(db, { at: "2026-12-31T23:59:59.999Z" });
  await buy(db, { at: "2027-01-01T00:00:00.000Z", netMinor: 0 });
  await buy(db, { at: "2027-01-01T00:00:00.000Z" });
  await buy(db, { at: "2027-01-01T00:00:00.000Z", userId: "ben" });
  for (const zone of ["Asia/Kolkata", "America/New_York", "UTC"]) {
    const rows = await db.transaction().execute(async (tx) => {
      await sql`set local time zone ${sql.lit(zone)}`.execute(tx);
      return (await monthsOf("ada").execute(tx)).rows;
    });
    expect(rows.toSorted((a, b) => a.month.localeCompare(b.month))).toEqual([
      { month: "2026-12", service: "jupyter", usd_minor: 240, payments: 1, hours: 6 },
      { month: "2027-01", service: "jupyter", usd_minor: 240, payments: 1, hours: 12 },
    ]);
  }
});

test("C43 last month's payment goes back today: last month is less by it, this one never counts it", async () => {
  const { db, order, pay, provider, payments } = await setup();
  const { id } = (await order("ada", { gpu_count: 4 })).body;
  const paymentId = (await pay(id)).body.razorpay_payment_id;
  await settlePayment(payments, await provider.payment(paymentId));
  await sql`update orders set paid_at = timestamptz '2026-10-31 23:59:59.999Z'`.execute(db);
  const november = new Date("2026-11-01T00:00:00Z");
  const figures = async () => {
    const { monthlyTotals, currentMonthUsage, chartData, trend } = buildStatement(
      await readBilling(db, "ada"),
      november,
    );
    return [
      monthlyTotals,
      currentMonthUsage,
      chartData.slice(-2).map(({ totalPaid }) => totalPaid),
      trend.changePercent,
    ];
  };
  expect(await figures()).toEqual([{ "2026-10": 0.75 }, 0, [0.75, 0], 100]);
  await provider.refund({ paymentId, amountMinor: 25, key: "the-dashboard-1", notes: {} });
  await settlePayment(payments, await provider.payment(paymentId));
  expect(await figures()).toEqual([{ "2026-10": 0.5 }, 0, [0.5, 0], 100]);
  await provider.refund({ paymentId, amountMinor: 50, key: "the-dashboard-2", notes: {} });
  await settlePayment(payments, await provider.payment(paymentId));
  expect(await figures()).toEqual([{}, 0, [0, 0], 0]);
});

test("the totals are read by an index-only scan", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await buy(db, { at: "2026-11-01T10:00:00Z" });
  await sql`vacuum analyze orders`.execute(db);
  const plan = await db.transaction().execute(async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx);
    await sql`set local enable_bitmapscan = off`.execute(tx);
    return (await sql<{ "QUERY PLAN": string }>`explain ${monthsOf("ada")}`.execute(tx)).rows;
  });
  expect(plan.map((row) => row["QUERY PLAN"]).join("\n")).toContain("Index Only Scan using orders_paid");
});

test("the ten newest orders that were paid or tried, each by the payment that got furthest", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await buy(db, { at: "2026-11-20T10:00:00Z", payments: [] });
  const paid = await buy(db, { at: "2026-11-19T10:00:00Z", payments: ["failed", "captured", "created"] });
  const tried = await buy(db, { at: "2026-11-18T10:00:00Z", payments: ["authorized", "failed"] });
  await buy(db, { at: "2026-11-17T10:00:00Z", userId: "ben" });
  for (let day = 1; day <= 12; day++) await buy(db, { at: `2026-10-${String(day).padStart(2, "0")}T10:00:00Z` });
  const { invoices } = await readBilling(db, "ada");
  expect(invoices).toHaveLength(10);
  expect(invoices[0]).toMatchObject({ status: "captured", gateway_payment_id: `pay_1_${paid}`, session_id: null });
  expect(invoices[1]).toMatchObject({ status: "authorized", gateway_payment_id: `pay_0_${tried}` });
  expect(invoices.map(({ at }) => at.getUTCDate())).toEqual([19, 18, 12, 11, 10, 9, 8, 7, 6, 5]);
});

test("a real payment, refunded in part and then whole: totals follow, the invoice stays (G17, G20)", async () => {
  const { db, order, pay, provider, payments, runOrderPoller, makeDue, rowOf } = await setup();
  const { id } = (await order("ada", { gpu_count: 4 })).body;
  const paymentId = (await pay(id)).body.razorpay_payment_id;
  runOrderPoller();
  await makeDue(id);
  await expect.poll(async () => (await rowOf(id)).status).toBe("paid");
  const statement = async () => buildStatement(await readBilling(db, "ada"), new Date());
  expect(await statement()).toMatchObject({ totalSpent: 0.75, paymentCount: 1, invoices: [{ state: "paid" }] });

  await provider.refund({ paymentId, amountMinor: 25, key: "the-dashboard-1", notes: {} });
  await settlePayment(payments, await provider.payment(paymentId));
  expect(await statement()).toMatchObject({
    totalSpent: 0.5,
    paymentCount: 1,
    invoices: [{ status: "Paid", state: "partially_refunded", amount: 0.75, refunded: 0.25 }],
    recentPayments: [{ amount: 0.75, status: "paid" }],
  });

  await provider.refund({ paymentId, amountMinor: 50, key: "the-dashboard-2", notes: {} });
  await settlePayment(payments, await provider.payment(paymentId));
  const after = await statement();
  expect(after).toMatchObject({
    currentMonthUsage: 0,
    totalSpent: 0,
    paymentCount: 0,
    monthlyTotals: {},
    invoices: [{ status: "Paid", state: "refunded", refunded: 0.75 }],
    recentPayments: [{ status: "refunded" }],
  });
  expect(after.chartData).toHaveLength(6);
});
