import { defaultPrices, major, quote } from "@berth/contract";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { recordDispute } from "../disputes/record-dispute.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { setup as money } from "../testing/setup.ts";
import { grantRefund } from "./grant-refund.ts";

/** A running environment of ada's, two GPUs, with its order and one that extends it by six hours. */
async function setup({ duration = 1, credit = 0 } = {}) {
  const shop = await money();
  const { db, order, pay, create, post, payments, provider, runReconciler, rowOf } = shop;
  if (credit > 0) await openCredit(shop, credit);
  runReconciler();
  const { id: base } = (await order("ada", { duration })).body;
  const basePaid = (await pay(base)).body;
  expect((await create("ada", basePaid, { duration })).body.status).toBe("active");
  const { id } = await db
    .selectFrom("environments")
    .select("id")
    .where("user_id", "=", "ada")
    .executeTakeFirstOrThrow();
  const amount = major(quote(defaultPrices, 2, 6, "USD").amountMinor);
  const extension = (await post(`/environments/${id}/extend`, "ada", { duration: 6, amount, currency: "USD" })).body.id;
  const extensionPaid = (await pay(extension)).body;
  await create("ada", extensionPaid, { duration: 6 });
  const orders = { base, extension };
  const paymentIds = { base: basePaid.razorpay_payment_id, extension: extensionPaid.razorpay_payment_id };
  const environment = () => db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const amountOf = async (which: Which) => (await rowOf(orders[which])).amount_minor;
  const ways = {
    async dashboard(which: Which) {
      const refund = { paymentId: paymentIds[which], amountMinor: await amountOf(which), key: `by-hand-${which}` };
      await provider.refund({ ...refund, notes: {} });
      await settlePayment(payments, await provider.payment(refund.paymentId));
    },
    async operator(which: Which) {
      await grantRefund(
        {
          db,
          announce: payments.announce,
          author: { actor: "cli:test", reason: "" },
          orderId: orders[which],
          message: "",
        },
        "full",
      );
    },
    async dispute(which: Which) {
      const asked = await amountOf(which);
      await recordDispute(payments, {
        ...{ id: "disp_1", paymentId: paymentIds[which], amountMinor: asked, currency: "USD", deductedMinor: asked },
        ...{ status: "lost", phase: "chargeback", reasonCode: null, respondBy: null, createdAt: new Date() },
      });
    },
  };
  return {
    ...shop,
    ways,
    orders,
    environment,
    async stop() {
      await db
        .updateTable("environments")
        .set({ desired: "stopped", due_at: sql`now()` })
        .where("id", "=", id)
        .execute();
      await expect.poll(async () => (await environment()).status).toBe("stopped");
    },
    /** Sets the remaining hours. */
    leave: (hours: number) =>
      sql`update environments set expires_at = now() + make_interval(secs => ${hours * 3600}) where id = ${id}`.execute(
        db,
      ),
    async left() {
      const { rows } = await sql<{ hours: number }>`
        select round(coalesce(extract(epoch from expires_at - now()), banked_seconds) / 3600.0, 1)::float8 as hours
        from environments where id = ${id}`.execute(db);
      return rows[0]?.hours;
    },
    async owed() {
      const rows = await db
        .selectFrom("refunds")
        .innerJoin("payments", "payments.id", "refunds.payment_id")
        .innerJoin("orders", "orders.id", "payments.order_id")
        .select(["orders.gateway_order_id", "refunds.reason", "refunds.amount_minor"])
        .where("orders.user_id", "=", "ada")
        .where("refunds.reason", "<>", "external")
        .execute();
      const name = (id: string | null) => (id === base ? "base" : "extension");
      return rows.map((row) => `${name(row.gateway_order_id)} ${row.reason} ${row.amount_minor}`).sort();
    },
  };
}

type Which = "base" | "extension";

/** Grants a credit for an undelivered order. */
async function openCredit({ db, order, rowOf, clear }: Awaited<ReturnType<typeof money>>, hours: number) {
  const { id } = (await order("ada", { subdomain: "lab-before" })).body;
  await clear("ada", id);
  const order_id = (await rowOf(id)).id;
  // Each hour of its two GPUs.
  const row = { id: "credit", user_id: "ada", order_id, gpu_hours: 2 * hours, reason: "not_delivered" };
  await db.insertInto("time_credits").values(row).execute();
}

test.each<
  readonly [
    string,
    { of: Which; by: "dashboard" | "operator" | "dispute"; stopped?: true; bought?: object; left?: number },
    number,
  ]
>([
  // However the base order is refunded, the six hours of the extension stay.
  ["running", { of: "base", by: "dashboard" }, 6],
  ["running", { of: "base", by: "operator" }, 6],
  ["running", { of: "base", by: "dispute" }, 6],
  ["running, some of it used", { of: "base", by: "dashboard", left: 6.5 }, 5.5],
  ["running", { of: "extension", by: "operator" }, 1],
  // Banked time is taken like running time; the rest stays banked, and the environment stays stopped.
  ["stopped", { of: "base", by: "dashboard", stopped: true }, 6],
  ["stopped", { of: "extension", by: "dashboard", stopped: true }, 1],
  ["stopped", { of: "extension", by: "operator", stopped: true }, 1],
  // A monthly plan is 720 hours of its order.
  ["monthly", { of: "base", by: "dashboard", bought: { duration: 720 } }, 6],
  ["monthly", { of: "extension", by: "dispute", bought: { duration: 720 } }, 720],
  // Bonus hours are taken with their order: its credit stays used.
  ["with two hours of a credit", { of: "base", by: "dashboard", bought: { credit: 2 } }, 6],
  ["with two hours of a credit", { of: "extension", by: "dashboard", bought: { credit: 2 } }, 3],
])(
  "%s, %o: the hours of that order alone come off, and the rest runs on",
  async (_, { of, by, stopped, bought, left: before }, hours) => {
    const { ways, stop, leave, left, environment, owed, rowOf, orders } = await setup(bought);
    if (before !== undefined) await leave(before);
    if (stopped) await stop();
    await ways[by](of);
    expect(await left()).toBe(hours);
    const { status, desired } = await environment();
    expect([status, desired]).toEqual(stopped ? ["stopped", "stopped"] : ["active", "running"]);
    expect(await rowOf(orders[of])).toMatchObject({ hours: 0, usd_net_minor: 0 });
    expect(await rowOf(orders[of === "base" ? "extension" : "base"])).toMatchObject({ status: "fulfilled" });
    expect((await owed()).filter((row) => !row.startsWith(of))).toEqual([]);
  },
);

test.each(["dashboard", "operator", "dispute"] as const)(
  "by %s, with no paid time left it ends; used time is not paid back",
  async (by) => {
    const { ways, leave, environment, owed, rowOf, orders } = await setup();
    await leave(0.9);
    await ways[by]("base");
    await expect.poll(async () => (await environment()).status).toBe("terminated");
    expect(await environment()).toMatchObject({ ended_reason: "operator" });
    expect(await rowOf(orders.extension)).toMatchObject({ status: "fulfilled", usd_net_minor: 240, hours: 6 });
    expect((await owed()).filter((row) => row.startsWith("extension"))).toEqual([]);
  },
);

test("stopped without paid time left it ends, and its name is not kept", async () => {
  const { ways, leave, stop, environment } = await setup();
  await leave(0.9);
  await stop();
  await ways.dashboard("base");
  await expect.poll(async () => (await environment()).status).toBe("terminated");
});

test("an extension that is paid back whole and the base order after it: it ends, and both are refunded", async () => {
  const { ways, environment, rowOf, orders, db } = await setup();
  await ways.dashboard("extension");
  await ways.operator("base");
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  expect([(await rowOf(orders.base)).status, (await rowOf(orders.extension)).status]).toEqual([
    "refunding",
    "refunded",
  ]);
  const titles = (await db.selectFrom("notifications").select("title").execute()).map(({ title }) => title);
  expect(titles).toContain("lab-ada was refunded in part and ends earlier");
});

test.each([false, true])(
  "ended by an operator before its paid end, each order's unused share goes back once (stopped: %s)",
  async (stopped) => {
    const { db, leave, stop, environment, owed, rowOf, orders } = await setup();
    await leave(3.5);
    if (stopped) await stop();
    await sql`update environments set desired = 'terminated', ended_reason = 'operator', due_at = now(), lease_token = null, lease_expires_at = null`.execute(
      db,
    );
    await expect.poll(async () => (await environment()).status).toBe("terminated");
    // Half of 40 and of 240, less the second since.
    expect(await owed()).toEqual(["base discretionary 19", "extension discretionary 119"]);
    expect(await rowOf(orders.extension)).toMatchObject({ status: "fulfilled", usd_net_minor: 121 });
    const notified = await db
      .selectFrom("notifications")
      .select("body")
      .where("title", "=", "Refund started")
      .execute();
    expect(notified).toHaveLength(2);
    expect(notified[0]?.body).toContain("ended before its paid time was over");
  },
);

test("prorated before, a machine that fails pays back the share of what is still paid, and never more than was unused", async () => {
  const { db, payments, leave, orders, environment, owed, ways: _, driver } = await setup();
  await leave(3.5);
  const parts = { db, announce: payments.announce, author: { actor: "cli:test", reason: "" }, message: "" };
  expect(await grantRefund({ ...parts, orderId: orders.extension }, "prorated")).toMatchObject({ amountMinor: 119 });
  driver.failNext("start", "unavailable", 1000);
  await driver.crash((await environment()).id);
  // Only a failed start shows that the machine is at fault.
  await expect.poll(async () => (await environment()).fault_since).not.toBeNull();
  await sql`update environments set give_up_at = now(), due_at = now(), lease_token = null, lease_expires_at = null`.execute(
    db,
  );
  await expect.poll(async () => (await environment()).status).toBe("terminated");
  const back = (await owed()).map((row) => Number(row.split(" ").at(-1)));
  // Of 280 for seven hours, three and a half were used.
  expect(back.reduce((sum, minor) => sum + minor, 0)).toBeLessThanOrEqual(140);
  expect(back.reduce((sum, minor) => sum + minor, 0)).toBeGreaterThan(135);
});
