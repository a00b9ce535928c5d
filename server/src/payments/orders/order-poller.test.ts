import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../../database/database.ts";
import { testDatabase } from "../../database/testing.ts";
import { noLease } from "../../database/work-queue.ts";
import type { Provider } from "../provider/provider.ts";
import { nextPoll } from "../settlement/deadlines.ts";
import { setup } from "../testing/setup.ts";
import { fetchOrders, nextOrderMs } from "./order-poller.ts";

test("C30 the browser closed after paying: the poll delivers", async () => {
  const { order, pay, makeDue, runOrderPoller, runReconciler, environments, rowOf } = await setup();
  const { id } = (await order("ada")).body;
  await pay(id);
  await makeDue(id);
  runOrderPoller();
  runReconciler();
  await expect.poll(async () => (await environments())[0]?.status, { timeout: 10_000 }).toBe("active");
  expect((await rowOf(id)).status).toBe("fulfilled");
});

test("C15 killed after capture, before settle: a restart polls every unpaid order at once", async () => {
  const { order, pay, runOrderPoller, rowOf } = await setup();
  const { id } = (await order("ada")).body;
  await pay(id);
  expect((await rowOf(id)).due_at?.getTime()).toBeGreaterThan(Date.now() + 20_000);
  runOrderPoller();
  await expect.poll(async () => (await rowOf(id)).status).toBe("paid");
});

test("the hold is over and nobody pays: expired, everything free, and still polled for late money", async () => {
  const { order, runOrderPoller, rowOf, openLeases, age, db, order: again } = await withAge();
  const { id } = (await order("ada")).body;
  await age(id, 16);
  runOrderPoller();
  await expect.poll(async () => (await rowOf(id)).attempts, { message: "looked at within the grace" }).toBe(0);
  expect((await rowOf(id)).status).toBe("open");
  await age(id, 18);
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("expired");
  expect(await openLeases()).toEqual([]);
  expect(await db.selectFrom("subdomain_claims").selectAll().execute()).toEqual([]);
  await expect.poll(async () => (await rowOf(id)).lease_token).toBe(null);
  expect((await rowOf(id)).due_at).not.toBe(null);
  expect((await again("ada")).status).toBe(200);
});

test("with an attempt in flight the hold lasts half an hour in all, once", async () => {
  const { order, addPayment, runOrderPoller, rowOf, openLeases, age } = await withAge();
  const { id } = (await order("ada")).body;
  await addPayment(id, { status: "created" });
  await age(id, 18);
  runOrderPoller();
  const minutes = async () => {
    const { hold_until, created_at } = await rowOf(id);
    return Math.round((hold_until.getTime() - created_at.getTime()) / 60_000);
  };
  await expect.poll(minutes).toBe(30);
  expect(await openLeases()).toHaveLength(2);
  const { hold_until } = await rowOf(id);
  expect((await openLeases()).map((lease) => lease.hold_until)).toEqual([hold_until, hold_until]);
  await age(id, 33);
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("expired");
  expect(await openLeases()).toEqual([]);
});

test("with an unreachable provider an open order expires after the longest hold, and not before", async () => {
  const { order, provider, runOrderPoller, rowOf, openLeases, age, errors } = await withAge();
  const { id } = (await order("ada")).body;
  const paymentsOfOrder = async () => {
    throw new Error("away");
  };
  Object.assign(provider, { paymentsOfOrder });
  await age(id, 29);
  runOrderPoller();
  await expect.poll(() => errors.length).toBe(1);
  await expect.poll(async () => (await rowOf(id)).lease_token).toBe(null);
  expect((await rowOf(id)).status).toBe("open");
  await age(id, 31);
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 10_000 }).toBe("expired");
  expect(await openLeases()).toEqual([]);
});

test("a payment of another order's in the provider's list is ignored", async () => {
  const { order, pay, payments, provider, rowOf, makeDue, runOrderPoller } = await setup();
  const [mine, other] = [(await order("ada")).body.id, (await order("ben")).body.id];
  const foreign = await payments.provider.payment((await pay(other)).body.razorpay_payment_id);
  Object.assign(provider, { paymentsOfOrder: async (id: string) => (id === mine ? [foreign] : []) });
  await makeDue(mine);
  runOrderPoller();
  const looked = async () =>
    Number((await rowOf(mine)).due_at) > Date.now() && (await rowOf(mine)).lease_token === null;
  await expect.poll(looked).toBe(true);
  expect([(await rowOf(mine)).status, (await rowOf(other)).status]).toEqual(["open", "open"]);
});

test("C34 a second capture of a delivered order, found by the poller, is refunded and the environment stays", async () => {
  const {
    order,
    pay,
    addPayment,
    create,
    makeDue,
    runOrderPoller,
    runReconciler,
    runRefundSender,
    refundsOf,
    environments,
    rowOf,
  } = await setup();
  const { id } = (await order("ada")).body;
  const proof = (await pay(id)).body;
  runReconciler();
  expect((await create("ada", proof)).body.status).toBe("active");
  await addPayment(id);
  await makeDue(id);
  runOrderPoller();
  runRefundSender();
  await expect
    .poll(async () => (await refundsOf()).map(({ reason, status }) => `${reason} ${status}`), { timeout: 10_000 })
    .toEqual(["surplus_payment processed"]);
  expect((await rowOf(id)).status).toBe("fulfilled");
  expect(await environments()).toMatchObject([{ status: "active" }]);
});

test("a late worker writes nothing: the settlement removed its lease", async () => {
  const { order, pay, makeDue, runOrderPoller, rowOf, db } = await setup();
  const { id } = (await order("ada")).body;
  await pay(id);
  await makeDue(id);
  runOrderPoller();
  await expect.poll(async () => (await rowOf(id)).status).toBe("paid");
  const { due_at, paid_at } = await rowOf(id);
  expect((due_at?.getTime() ?? 0) - (paid_at?.getTime() ?? 0)).toBe(60_000);
  expect(await db.selectFrom("payments").selectAll().execute()).toHaveLength(1);
});

test("orders of other keys are never polled", async () => {
  const { order, runOrderPoller, rowOf, db } = await setup();
  const { id } = (await order("ada")).body;
  await db
    .updateTable("orders")
    .set({ gateway: "razorpay", mode: "test", due_at: sql`now() - interval '1 minute'` })
    .execute();
  const second = (await order("ben")).body.id;
  await db
    .updateTable("orders")
    .set({ created_at: sql`now() - interval '1 hour'`, hold_until: sql`now() - interval '45 minutes'` })
    .execute();
  runOrderPoller();
  await expect.poll(async () => (await rowOf(second)).status).toBe("expired");
  expect(await rowOf(id)).toMatchObject({ status: "open", attempts: 0 });
});

test("the next due time is read from the two partitions' indexes, however many orders there are", async () => {
  await using database = await testDatabase();
  const { db } = database;
  await sql`insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
      currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, hold_until, watch_until, paid_at, due_at)
    select n::text, n::text, 'fulfilled', 'jupyter', 'lab', 1, 1, 20, 20, 'USD', 8822, 'embedded', 'embedded', n::text, '',
      now(), now(), now(), case when n % 10 = 0 then now() + make_interval(mins => n) end from generate_series(1, 2000) n`.execute(
    db,
  );
  await sql`analyze orders`.execute(db);
  const read = async () => {
    await sql`select pg_stat_force_next_flush()`.execute(db);
    const { rows } = await sql<{ rows: number }>`
      select seq_tup_read::float8 + coalesce(idx_tup_fetch, 0)::float8 as rows from pg_stat_user_tables where relname = 'orders'`.execute(
      db,
    );
    return rows[0]?.rows ?? 0;
  };
  const before = await read();
  const queue = { db, provider: { kind: "embedded", mode: "embedded" } as Provider };
  expect(await nextOrderMs(queue)).toBeGreaterThan(0);
  expect(await fetchOrders(queue, "unpaid")).toEqual([]);
  await expect.poll(read).toBeLessThan(before + 100);
});

test("polls come at 30 s, 2 min, 5 min, the end of the hold, 1 h, 1 d, 4 d and the end of polling", () => {
  const created_at = new Date("2030-01-01T00:00:00Z");
  const after = (minutes: number) => new Date(created_at.getTime() + minutes * 60_000);
  const order = { status: "expired" as const, created_at, hold_until: after(15), watch_until: after(5 * 1440) };
  const times: number[] = [];
  for (let at: Date | null = created_at; at; ) {
    at = nextPoll(order, at);
    if (at) times.push((at.getTime() - created_at.getTime()) / 60_000);
  }
  expect(times).toEqual([0.5, 2, 5, 17, 60, 1440, 5760, 7200]);
  expect(nextPoll({ ...order, status: "open", hold_until: after(30) }, after(20))).toEqual(after(32));
  expect(nextPoll({ ...order, status: "refunding" }, after(9000))).toEqual(after(9000 + 1440));
});

test("a just-paid order is found before sixty old ones are polled, and no check fails", async () => {
  const { order, pay, makeDue, runOrderPoller, rowOf, db, asMerchant, lines } = await setup();
  await seedOld(db, 60);
  const { id } = (await order("ada")).body;
  await pay(id);
  await makeDue(id);
  const faults = { perSecond: 5 };
  expect((await asMerchant("PUT", "/test/faults", faults)).status).toBe(200);
  runOrderPoller();
  await expect.poll(async () => (await rowOf(id)).status, { timeout: 20_000 }).toBe("paid");
  const { rows: polled } = await sql`
    select id from orders where user_id like 'old-%' and (attempts > 0 or due_at > now())`.execute(db);
  expect(polled.length).toBeLessThan(10);
  expect(lines.filter(({ event }) => event === "order.check_failed")).toEqual([]);
});

/** Unpaid orders of an hour ago, at the provider too, whose polls have been due for minutes. */
async function seedOld(db: Db, count: number): Promise<void> {
  await sql`insert into embedded_gateway_orders (id, receipt, amount_minor, currency, capture)
    select 'order_old' || n, 'old-' || n, 20, 'USD', 'automatic' from generate_series(1, ${count}) n`.execute(db);
  await sql`insert into orders (id, user_id, status, container_type, subdomain, gpu_count, duration_hours, usd_minor, amount_minor,
      currency, inr_paise_per_usd, gateway, mode, gateway_order_id, request_hash, created_at, hold_until, watch_until, due_at)
    select 'old-' || n, 'old-' || n, 'expired', 'jupyter', 'old-' || n, 1, 1, 20, 20, 'USD', 8822, 'embedded', 'embedded', 'order_old' || n, '',
      now() - interval '1 hour', now() - interval '45 minutes', now() + interval '4 days', now() - interval '5 minutes'
    from generate_series(1, ${count}) n`.execute(db);
}

/** `age` backdates an order by some minutes and makes it due. */
async function withAge() {
  const world = await setup();
  const age = async (id: string, minutes: number) => {
    const { created_at, hold_until } = await world.rowOf(id);
    const by = minutes * 60_000 - (Date.now() - created_at.getTime());
    await world.db
      .updateTable("orders")
      .set({
        created_at: new Date(created_at.getTime() - by),
        hold_until: new Date(hold_until.getTime() - by),
        due_at: sql`now()`,
        ...noLease,
      })
      .where("gateway_order_id", "=", id)
      .execute();
  };
  return { ...world, age };
}
