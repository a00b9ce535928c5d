import { sql } from "kysely";
import { expect, test } from "vitest";
import { recordReturnedRefund } from "../refunds/record-returned-refund.ts";
import { settlePayment } from "../settlement/settle-payment.ts";
import { setup as money } from "../testing/setup.ts";
import { brokenInvariants, invariants } from "./invariants.ts";

async function setup() {
  const shop = await money();
  const { db, order, pay, payments, provider, rowOf } = shop;
  return {
    ...shop,
    /** Balance of every account, credit negative. */
    async balances() {
      const { rows } = await sql<{ account: string; sum: number }>`
        select account, sum(amount_minor) as sum from journal_lines group by 1 having sum(amount_minor) <> 0`.execute(
        db,
      );
      return Object.fromEntries(rows.map(({ account, sum }) => [account, sum]));
    },
    kinds: async () => (await db.selectFrom("journal").select("kind").orderBy("at").execute()).map(({ kind }) => kind),
    async buy(userId = "ada") {
      const { id } = (await order(userId, { subdomain: `lab-${userId}` })).body;
      const paymentId = (await pay(id)).body.razorpay_payment_id;
      await settlePayment(payments, await provider.payment(paymentId));
      return { id, paymentId, orderId: (await rowOf(id)).id };
    },
  };
}

test("a rental to its end: prepaid, then revenue", async () => {
  const { wake, buy, balances, kinds, runReconciler, db, rowOf } = await setup();
  const { id } = await buy();
  expect(await balances()).toEqual({ gateway: 40, prepaid: -40 });
  runReconciler();
  await expect.poll(async () => (await rowOf(id)).status).toBe("fulfilled");
  expect(await balances()).toEqual({ gateway: 40, prepaid: -40 });
  await db.updateTable("environments").set({ desired: "terminated", due_at: sql`now()` }).execute();
  wake();
  await expect.poll(balances).toEqual({ gateway: 40, revenue: -40 });
  expect(await kinds()).toEqual(["capture", "session_over"]);
});

test("not delivered: a refund is payable when created and settled when it arrives", async () => {
  const { buy, balances, kinds, runReconciler, runRefundSender, db, rowOf } = await setup();
  const { id } = await buy();
  await db.updateTable("environments").set({ desired: "terminated", due_at: sql`now()` }).execute();
  runReconciler();
  await expect.poll(async () => (await rowOf(id)).status).toBe("refunding");
  expect(await balances()).toEqual({ gateway: 40, refunds_payable: -40 });
  runRefundSender();
  await expect.poll(balances).toEqual({});
  expect(await kinds()).toEqual(["capture", "refund_asked", "refund_arrived"]);
});

test("refunded in the dashboard after the session is over: paid out of revenue", async () => {
  const { wake, buy, balances, payments, provider, runReconciler, db, rowOf } = await setup();
  const { id, paymentId } = await buy();
  runReconciler();
  await expect.poll(async () => (await rowOf(id)).status).toBe("fulfilled");
  await db.updateTable("environments").set({ desired: "terminated", due_at: sql`now()` }).execute();
  wake();
  await expect.poll(balances).toEqual({ gateway: 40, revenue: -40 });
  await provider.refund({ paymentId, amountMinor: 15, key: "the-dashboard", notes: {} });
  await settlePayment(payments, await provider.payment(paymentId));
  expect(await balances()).toEqual({ gateway: 25, revenue: -25 });
});

test("a failed refund is prepaid again, and one that arrives after all is booked again", async () => {
  const { wake, balances, payments, runRefundSender, db, ...shop } = await setup();
  const { id } = (await shop.order("ada")).body;
  await settlePayment(payments, await payments.provider.payment(await shop.addPayment(id, { amount_minor: 39 })));
  expect(await balances()).toEqual({ gateway: 39, refunds_payable: -39 });
  const { provider } = payments;
  let status: "failed" | "processed" = "failed";
  Object.assign(provider, {
    refund: async () => ({ id: "rfnd_1", paymentId: "", amountMinor: 39, status, arn: null }),
    refundById: async () => ({ id: "rfnd_1", paymentId: "", amountMinor: 39, status, arn: null }),
  });
  runRefundSender();
  await expect.poll(balances).toEqual({ gateway: 39, prepaid: -39 });
  expect(await brokenInvariants(db)).toEqual([]);
  status = "processed";
  await db.updateTable("refunds").set({ due_at: sql`now()` }).execute();
  wake();
  await expect.poll(balances, { timeout: 10_000 }).toEqual({});
  expect((await shop.rowOf(id)).status).toBe("refunded");
  // The bank returns it: its second failure, and then a second arrival.
  for (const _ of [1, 2]) {
    status = "failed";
    await recordReturnedRefund(payments, "rfnd_1");
    expect(await balances()).toEqual({ gateway: 39, prepaid: -39 });
    expect(await brokenInvariants(db)).toEqual([]);
    status = "processed";
    await db.updateTable("refunds").set({ due_at: sql`now()` }).execute();
    wake();
    await expect.poll(balances, { timeout: 10_000 }).toEqual({});
  }
});

test("a fee of the provider is a cost and reduces its balance", async () => {
  const { order, pay, payments, provider, balances } = await setup();
  const { id } = (await order("ada")).body;
  const payment = await provider.payment((await pay(id)).body.razorpay_payment_id);
  await settlePayment(payments, { ...payment, feeMinor: 2 });
  expect(await balances()).toEqual({ gateway: 38, fees: 2, prepaid: -40 });
});

test("a duplicate payment after the session's end is refunded out of prepaid money, not out of revenue", async () => {
  const { wake, buy, addPayment, balances, payments, provider, runReconciler, db, rowOf } = await setup();
  const { id } = await buy();
  runReconciler();
  await expect.poll(async () => (await rowOf(id)).status).toBe("fulfilled");
  await db.updateTable("environments").set({ desired: "terminated", due_at: sql`now()` }).execute();
  wake();
  await expect.poll(balances).toEqual({ gateway: 40, revenue: -40 });
  await settlePayment(payments, await provider.payment(await addPayment(id)));
  expect(await balances()).toEqual({ gateway: 80, revenue: -40, refunds_payable: -40 });
});

test("the database refuses an entry that does not balance, and any change of one", async () => {
  const { buy, db } = await setup();
  const { orderId } = await buy();
  await expect(
    db.transaction().execute(async (tx) => {
      await sql`insert into journal (id, kind, source_id) values ('e', 'fee', 'x')`.execute(tx);
      await sql`insert into journal_lines values ('e', 'fees', ${orderId}, 'USD', 5)`.execute(tx);
    }),
  ).rejects.toThrow("does not balance");
  await expect(sql`update journal_lines set amount_minor = 1`.execute(db)).rejects.toThrow("append-only");
  await expect(sql`delete from journal`.execute(db)).rejects.toThrow("append-only");
});

test("each invariant finds its violation", async () => {
  const { buy, db } = await setup();
  await buy();
  expect(await brokenInvariants(db)).toEqual([]);
  const owed = "insert into refunds (id, payment_id, amount_minor, currency, reason, status, due_at)";
  const breaks: Readonly<Record<string, string>> = {
    "every journal entry sums to zero": "delete from journal_lines where account = 'gateway'",
    "every captured payment is booked once": "delete from journal",
    "a paid order has one settling payment and one environment, or is refunded": "delete from environments",
    "an order of 0 has credits that start environments by themselves, of its owner, and no time that they do not cover":
      "update orders set gateway = 'credit', amount_minor = 0, usd_minor = 0",
    "a fully refunded environment does not run, except on the time of other orders":
      "with back as (update payments set refund_minor = amount_minor) update orders set status = 'refunding'",
    "no environment has more time left than was paid for and not paid back":
      "with bought as (update orders set status = 'fulfilled', hours = 1) update environments set created_at = now(), expires_at = now() + interval '2 hours'",
    "paid time that an operator's end took from an environment is paid back":
      "with bought as (update orders set status = 'fulfilled', hours = 1) update environments set status = 'terminated', ended_reason = 'operator', created_at = now(), terminated_at = now(), expires_at = now() + interval '1 hour'",
    "every duplicate payment is refunded": "update payments set settles_order = false",
    "prepaid money belongs to an existing environment":
      "update environments set status = 'terminated', terminated_at = now()",
    "refunds payable are the refunds under way": `${owed} select 'r', id, 5, 'USD', 'hardware', 'queued', now() from payments`,
    "the provider's balance of an order is what was captured, less fees, refunds and lost disputes":
      "update payments set fee_minor = 3",
    "a payment's refunded sum is that of its refunds": "update payments set refund_minor = 3",
    "a lost dispute is booked once, stops the account's orders and ends what was bought":
      "insert into disputes (id, gateway, gateway_dispute_id, payment_id, user_id, status, phase, amount_minor, currency, lost_minor, created_at, closed_at) select 'd', gateway, 'disp_1', id, user_id, 'lost', 'fraud', 40, 'USD', 40, now(), now() from payments",
    "no more is waived than a bank has taken": `with r as (${owed} select 'r', id, 5, 'USD', 'hardware', 'queued', now() from payments), j as (insert into journal (id, kind, source_id) values ('w', 'refund_waived', 'r:5')) insert into journal_lines select 'w', 'disputes', order_id, 'USD', -5 from payments`,
    "every captured payment has a receipt, every processed refund a credit note": "delete from receipts",
    "tax serials have no gap": "insert into invoice_series values ('I', 2026, 3)",
    "every GPU lease has a valid holder, and the GPUs of one holder are on one host":
      "update gpu_leases set released_at = now() where id = (select min(id) from gpu_leases)",
    "a warm run has its GPUs, leased by the pool or by the order that has taken it":
      "insert into warm_runs (id, host_id, container_type, gpus, home, run_token) select 'w', host_id, 'jupyter', array[id], 'h', 't' from gpus limit 1",
    "a reservation of the queue holds all of its GPUs":
      "insert into queue_entries (id, user_id, gpu_count, status, held_until) values ('q', 'ada', 2, 'held', now())",
    "an undelivered order earns a credit, unless one was open": `${owed} select 'r', id, 5, 'USD', 'not_delivered', 'queued', now() from payments`,
    "what comes back of an order's credits is a new credit of its owner":
      "insert into granted_credits (id, user_id, gpu_hours, source, note, used_by_order, returned_hours) select 'c', user_id, 2, 'operator', '', id, 1 from orders",
    "an unfinished order is due": "update orders set due_at = null, status = 'fulfilled'",
  };
  expect(Object.keys(breaks)).toEqual(invariants.map(({ name }) => name));
  for (const { name, broken } of invariants)
    await db.connection().execute(async (connection) => {
      // Disables triggers and foreign keys, which would refuse the fault.
      await sql`begin`.execute(connection);
      await sql`set local session_replication_role = replica`.execute(connection);
      await sql.raw(breaks[name] ?? "").execute(connection);
      expect((await broken.execute(connection)).rows, name).not.toEqual([]);
      await sql`rollback`.execute(connection);
    });
});
