import { sql } from "kysely";
import { expect, test } from "vitest";
import { readOrder } from "../../billing/read-order.ts";
import { findUsers } from "../../operator/people/find-user.ts";
import { delivery } from "../settlement/delivery.ts";
import { holdAccount, setup as money } from "../testing/setup.ts";

/** Ada has a credit of ten GPU-hours that starts an environment by itself. */
async function setup(options: Parameters<typeof money>[0] = {}) {
  const shop = await money(options);
  const { db, post, request } = shop;
  const grant = (id: string, alone: boolean, userId = "ada") =>
    sql`insert into granted_credits (id, user_id, gpu_hours, source, note, alone)
      values (${id}, ${userId}, 10, 'voucher', '', ${alone})`.execute(db);
  await grant("of-a-code", true);
  const email = "ada@lab.example";
  await db.insertInto("identity_user").values({ id: "ada", email, email_key: email }).execute();
  const rows = <Name extends "payments" | "refunds" | "time_credits" | "journal">(name: Name) =>
    db.selectFrom(name).selectAll().execute();
  return {
    ...shop,
    grant,
    launch: (change: object = {}, userId = "ada") =>
      post("/credits/launch", userId, { container_request: { ...request(userId), gpu_count: 1, ...change } }),
    orderRows: () => db.selectFrom("orders").selectAll().execute(),
    credits: () =>
      db
        .selectFrom("granted_credits")
        .select(["gpu_hours", "source", "alone", "used_by_order"])
        .orderBy("granted_at")
        .execute(),
    async expectNoMoney() {
      for (const name of ["payments", "refunds", "time_credits", "journal"] as const)
        expect(await rows(name), name).toEqual([]);
    },
  };
}

test("hours of a code start an environment with an order of 0: no payment, all the hours, the same again for the same request (G332)", async () => {
  const shop = await setup({ caps: { newcomerShare: 0.5 } });
  const { launch, runReconciler, orderRows, credits, environments, expectNoMoney, db, rowOf } = shop;
  const launching = launch();
  await expect.poll(async () => (await orderRows()).length).toBe(1);
  await sql`update orders set deliver_by = created_at`.execute(db);
  runReconciler();
  const first = await launching;
  expect([first.status, first.body.status, first.body.subdomain]).toEqual([200, "active", "lab-ada"]);
  const again = await launch();
  expect(again.body.environment_id).toBe(first.body.environment_id);
  const [order, ...others] = await orderRows();
  expect(others).toEqual([]);
  expect(order).toMatchObject({ status: "fulfilled", amount_minor: 0, usd_net_minor: 0, gateway: "credit", hours: 10 });
  expect(await credits()).toMatchObject([{ used_by_order: order?.id }]);
  const [environment] = await environments();
  expect(Math.round((Number(environment?.expires_at) - Number(environment?.created_at)) / 3_600_000)).toBe(10);
  await expectNoMoney();
  const shown = await readOrder(db, "ada", order?.id ?? "");
  expect(shown).toMatchObject({
    ...{ state: "delivered", amount: 0, receipts: [], may_ask_refund: false },
    money: { place: "nothing_taken", charged: 0 },
  });
  const kinds = shown?.timeline.map(({ kind }) => kind);
  expect(kinds, "no bonus, though it was late").toEqual(["ordered", "delivered", "credit_used"]);
  expect((await rowOf(order?.id ?? "")).id).toBe(order?.id);
  expect((await findUsers(db, "ada@lab.example", 1)).rows).toMatchObject([{ user_id: "ada", paid_orders: 0 }]);
  expect((await launch({ subdomain: "other-lab" })).body.code, "the credit is used").toBe("voucher_refused");
  const more = await shop.order("ada", { subdomain: "other-lab", gpu_count: 4 });
  expect(more.body.code, "nothing was paid yet (G112)").toBe("too_many_gpus");
});

test("two requests at once start one environment (G332)", async () => {
  const { launch, runReconciler, environments, orderRows } = await setup();
  runReconciler();
  const replies = await Promise.all([launch(), launch(), launch({ subdomain: "other-lab" })]);
  const [one, same, other] = replies.map(({ status }) => status === 200);
  expect([same, other], "the same request gets the same, another one nothing").toEqual([one, !one]);
  expect([(await environments()).length, (await orderRows()).length]).toEqual([1, 1]);
});

test("an unpaid order of the account gives way to it, with the name and GPUs that it held, but not while it is being paid (G332)", async () => {
  const { order, launch, addPayment, runReconciler, rowOf, db } = await setup({ slots: 2 });
  runReconciler();
  const { id } = (await order("ada")).body;
  const payment = await addPayment(id, { status: "authorized" });
  expect((await launch()).body.code).toBe("order_in_payment");
  await db.updateTable("embedded_gateway_payments").set({ status: "failed" }).where("id", "=", payment).execute();
  const { status, body } = await launch();
  expect([status, body.subdomain]).toEqual([200, "lab-ada"]);
  expect((await rowOf(id)).status).toBe("cancelled");
});

test("what the code does not cover is refused in a sentence, and nothing is held (G332)", async () => {
  const { launch, grant, orderRows, openLeases, db } = await setup();
  const said = async (change: object, userId?: string) => {
    const { status, body } = await launch(change, userId);
    return [status, body.code, body.message];
  };
  expect(await said({ gpu_count: 2, duration: 6 })).toEqual([
    409,
    "voucher_refused",
    "Your code covers 5 hours with 2 slots: choose no more",
  ]);
  expect((await said({ duration: 720 }))[2]).toBe("A monthly plan is paid: choose hours to use your credit alone");
  expect((await said({ user_id: "eve" }))[0]).toBe(403);
  expect((await said({ subdomain: "-" }))[0]).toBe(400);
  await grant("of-an-operator", false, "ben");
  expect((await said({}, "ben"))[2]).toBe(
    "You have no code whose hours start an environment with 1 slot by themselves",
  );
  await holdAccount(db, "ada");
  expect((await said({}))[1]).toBe("account_held");
  expect([await orderRows(), await openLeases()]).toEqual([[], []]);
});

test("not delivered: the hours are the owner's again, without a refund or a bonus (G332)", async () => {
  const { launch, runReconciler, credits, orderRows, openLeases, expectNoMoney, db, wake } = await setup({
    fake: { startMs: 3_600_000 },
  });
  runReconciler();
  const waiting = launch();
  await expect.poll(async () => (await orderRows()).length).toBe(1);
  await sql`update environments set give_up_at = now(), due_at = now()`.execute(db);
  wake();
  const { status, body } = await waiting;
  expect([status, body.code, body.money]).toEqual([409, "not_delivered", "nothing_taken"]);
  expect(body.message).toBe("The environment could not be delivered. The hours of your code are yours again.");
  expect(await credits()).toMatchObject([{ gpu_hours: 10, alone: true, used_by_order: null }]);
  expect(await orderRows()).toMatchObject([{ status: "refunded", hours: 0 }]);
  expect(await openLeases()).toEqual([]);
  await expectNoMoney();
});

test("ended by the machine: the unused share comes back as a credit that starts one by itself (G332)", async () => {
  const { launch, runReconciler, credits, environments, orderRows, payments, db } = await setup();
  runReconciler();
  await launch();
  const [order] = await orderRows();
  const [environment] = await environments();
  const { ended } = delivery({ announce: payments.announce });
  const about = { id: environment?.id ?? "", orderId: order?.id ?? "", userId: "ada" };
  await db.transaction().execute((tx) => ended(tx, about, 5 * 3600));
  expect(await credits()).toMatchObject([
    { source: "voucher", used_by_order: order?.id },
    { source: "returned", gpu_hours: 5, alone: true, used_by_order: null },
  ]);
});
