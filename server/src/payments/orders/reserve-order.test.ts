import { sql } from "kysely";
import { expect, test } from "vitest";
import { testApp } from "../../testing/test-app.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { setup as money } from "../testing/setup.ts";

async function setup(options: Parameters<typeof money>[0] = {}) {
  const shop = await money(options);
  const { db, order, pay, payments, provider, rowOf } = shop;
  return {
    ...shop,
    /** Minutes from now to the end of the order's hold. */
    async holdOf(id: string) {
      const { hold_until } = await rowOf(id);
      return Math.round((hold_until.getTime() - Date.now()) / 60_000);
    },
    /** Backdates all of ada's orders by this many minutes. */
    later: (minutes: number) =>
      sql`update orders set created_at = created_at - make_interval(secs => ${minutes * 60}),
        hold_until = hold_until - make_interval(secs => ${minutes * 60}), closed_at = closed_at - make_interval(secs => ${minutes * 60})
        where user_id = 'ada'`.execute(db),
    async buy(userId: string, subdomain: string) {
      const { id } = (await order(userId, { subdomain, gpu_count: 1 })).body;
      await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
    },
  };
}

const minutes = (seconds: number) => Math.round(seconds / 60);

test("an order under another name does not renew the hold, and from the third unpaid order on a hold is five minutes (G112)", async () => {
  const { order, clear, holdOf, later } = await setup();
  const first = (await order("ada", { subdomain: "one-lab" })).body;
  expect([await holdOf(first.id), minutes(first.timeout)]).toEqual([15, 14]);
  await later(6);
  const second = (await order("ada", { subdomain: "two-lab" })).body;
  expect([await holdOf(second.id), minutes(second.timeout)]).toEqual([9, 8]);
  await later(2);
  await clear("ada", second.id);
  const third = (await order("ada", { subdomain: "three-lab" })).body;
  expect([await holdOf(third.id), minutes(third.timeout)]).toEqual([5, 4]);
  await later(16);
  const fourth = (await order("ada", { subdomain: "four-lab" })).body;
  expect(await holdOf(fourth.id)).toBe(5);
});

test("in the last minute of the first hold another name is refused, with the time from which it is possible", async () => {
  const { order, later } = await setup();
  await order("ada", { subdomain: "one-lab" });
  await later(14.5);
  const refused = await order("ada", { subdomain: "two-lab" });
  expect([refused.status, refused.body.code, refused.body.money]).toEqual([429, "rate_limited", "nothing_taken"]);
  expect(refused.body.message).toMatch(/does not begin them anew\. You can order again at .* UTC\.$/);
  expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(31);
  await later(0.6);
  expect((await order("ada", { subdomain: "two-lab" })).status).toBe(200);
});

test("a user who tries three names and pays for the last is never refused, and the count restarts", async () => {
  const { order, clear, pay, payments, provider, rowOf, holdOf } = await setup({ slots: 4 });
  let id = "";
  for (const subdomain of ["one-lab", "two-lab", "three-lab"]) {
    if (id) await clear("ada", id);
    const answer = await order("ada", { subdomain, gpu_count: 2 });
    expect(answer.status).toBe(200);
    id = answer.body.id;
  }
  await settlePayment(payments, await provider.payment((await pay(id)).body.razorpay_payment_id));
  expect((await rowOf(id)).status).toBe("paid");
  expect(await holdOf((await order("ada", { subdomain: "next-lab" })).body.id)).toBe(15);
});

test("unpaid GPU-minutes within a day are limited, whatever the names: 429 with the time, and fewer GPUs are possible earlier", async () => {
  const { order, later, holdOf } = await setup();
  const held: number[] = [];
  let refused: Awaited<ReturnType<typeof order>> | undefined;
  for (let n = 0; n < 20 && !refused; n++) {
    const answer = await order("ada", { subdomain: `lab-${n}`, gpu_count: 8 });
    if (answer.status === 200) held.push((await holdOf(answer.body.id)) + 2);
    else refused = answer;
    // Unpaid: each hold runs to its end, and the poller expires its order.
    await later(30);
  }
  const kept = held.reduce((sum, each) => sum + each * 8, 0);
  expect(kept).toBeGreaterThan(300);
  expect(kept).toBeLessThanOrEqual(480);
  expect([refused?.status, refused?.body.code]).toEqual([429, "rate_limited"]);
  expect(refused?.body.message).toMatch(
    /^Orders of yours that were not paid kept slots long enough today.* You can order again at .* UTC\.$/,
  );
  expect(Number(refused?.headers["retry-after"])).toBeGreaterThan(3600);
  expect((await order("ada", { subdomain: "small-lab", gpu_count: 1 })).status).toBe(200);
  await later(24 * 60);
  expect((await order("ada", { subdomain: "large-lab", gpu_count: 8 })).status).toBe(200);
});

test("an account without a payment may hold half of the free GPUs, at least one; a paying account and a reservation all of them", async () => {
  const { order, buy, db, openLeases } = await setup({ slots: 8, caps: { newcomerShare: 0.5 } });
  const refused = await order("ada", { gpu_count: 8 });
  expect([refused.status, refused.body.code]).toEqual([409, "too_many_gpus"]);
  expect(refused.body.message).toContain("8 slots are free, and 4 of them can be kept");
  expect((await order("ada", { gpu_count: 4 })).status).toBe(200);
  expect((await order("ben", { gpu_count: 2 })).status).toBe(200);
  await buy("eve", "eve-lab");
  await db
    .updateTable("orders")
    .set({ status: "cancelled", closed_at: sql`now()` })
    .where("status", "=", "open")
    .execute();
  await sql`update gpu_leases set released_at = now() where holder_kind = 'order'`.execute(db);
  expect((await order("eve", { subdomain: "eve-two", gpu_count: 6 })).status).toBe(200);
  expect(await openLeases()).toHaveLength(7);
  expect((await order("ida", { gpu_count: 1 })).status).toBe(200);
});

test("the queue refuses what could not be ordered: more than the quota, or with the account on hold", async () => {
  const product = await testApp({ GPUS_PER_USER: "2" });
  product.deliver();
  const { db, call } = product;
  const [ada, bob] = [await product.signUp("Ada"), await product.signUp("Bob")];
  await product.rent(ada);
  const join = async ({ token }: typeof ada) => {
    const answer = await call("POST", "/environments/queue", token, { gpu_count: 1 });
    return [answer.statusCode, answer.json().code ?? answer.json().place.state];
  };
  expect(await join(ada)).toEqual([409, "too_many_gpus"]);
  expect(await join(bob)).toEqual([200, "held"]);
  await sql`update queue_entries set status = 'left', closed_at = now()`.execute(db);
  await sql`delete from gpu_leases where holder_kind = 'queue'`.execute(db);

  await sql`
    with lost as (
      insert into disputes (id, gateway, gateway_dispute_id, payment_id, user_id, status, phase, amount_minor, currency, lost_minor, created_at, closed_at)
      select 'lost', p.gateway, 'disp_1', p.id, ${bob.id}, 'lost', 'fraud', 40, 'USD', 40, now(), now() from payments p limit 1
      returning id, user_id)
    insert into account_holds (dispute_id, user_id) select id, user_id from lost`.execute(db);
  expect(await join(bob)).toEqual([403, "account_held"]);
  await sql`update account_holds set lifted_at = now()`.execute(db);
  expect(await join(bob)).toEqual([200, "held"]);
});
