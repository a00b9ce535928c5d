import { sql } from "kysely";
import { expect, test } from "vitest";
import { settlePayment } from "../settlement/settle-payment.ts";
import { holdAccount, setup } from "../testing/setup.ts";

test("C31 authorized late: captured and delivered if GPUs and name are free, else not captured", async () => {
  const { order, clear, addPayment, makeDue, runOrderPoller, rowOf, environments, db, openLeases } = await setup({
    slots: 2,
  });
  const { id } = (await order("ada")).body;
  await clear("ada", id);
  const paymentId = await addPayment(id, { status: "authorized" });
  const other = (await order("ben")).body.id;
  await makeDue(id);
  runOrderPoller();
  await expect
    .poll(async () => {
      const { lease_token, due_at } = await rowOf(id);
      return lease_token === null && due_at !== null && due_at > new Date();
    })
    .toBe(true);
  const status = () =>
    db.selectFrom("embedded_gateway_payments").select("status").where("id", "=", paymentId).executeTakeFirst();
  expect(await status()).toEqual({ status: "authorized" });
  expect(await openLeases()).toHaveLength(2);
  await clear("ben", other);
  await makeDue(id);
  await expect.poll(status, { timeout: 10_000 }).toEqual({ status: "captured" });
  await expect.poll(async () => (await rowOf(id)).status).toBe("paid");
  expect(await environments()).toMatchObject([{ user_id: "ada" }]);
});

test("a late authorization is captured only with the exact amount, and not for an open order", async () => {
  const { order, clear, addPayment, makeDue, runOrderPoller, rowOf, db } = await setup();
  const late = (await order("ada")).body.id;
  await clear("ada", late);
  await addPayment(late, { status: "authorized", amount_minor: 39 });
  const open = (await order("ben")).body.id;
  await addPayment(open, { status: "authorized" });
  for (const id of [late, open]) await makeDue(id);
  runOrderPoller();
  const looked = async (id: string) => {
    const { lease_token, due_at } = await rowOf(id);
    return lease_token === null && Number(due_at) > Date.now();
  };
  for (const id of [late, open]) await expect.poll(() => looked(id)).toBe(true);
  const atGateway = await db.selectFrom("embedded_gateway_payments").select("status").execute();
  expect(atGateway).toEqual([{ status: "authorized" }, { status: "authorized" }]);
});

test.each(["it is on hold", "it has reached its GPU quota"])(
  "a late authorization is not captured for an account when %s",
  async (why) => {
    const { order, clear, pay, addPayment, makeDue, runOrderPoller, rowOf, payments, provider, openLeases, db } =
      await setup({
        caps: { gpusPerUser: 2 },
      });
    const { id } = (await order("ada")).body;
    await clear("ada", id);
    if (why === "it is on hold") await holdAccount(db, "ada");
    else {
      const other = (await order("ada", { subdomain: "other-lab" })).body.id;
      await settlePayment(payments, await provider.payment((await pay(other)).body.razorpay_payment_id));
    }
    const before = (await openLeases()).length;
    await addPayment(id, { status: "authorized" });
    await makeDue(id);
    runOrderPoller();
    await expect
      .poll(async () => {
        const { lease_token, due_at } = await rowOf(id);
        return lease_token === null && Number(due_at) > Date.now();
      })
      .toBe(true);
    const late = db.selectFrom("embedded_gateway_payments").select("status").where("order_id", "=", id);
    expect(await late.execute()).toEqual([{ status: "authorized" }]);
    expect(await openLeases()).toHaveLength(before);
  },
);

test("a concurrent late capture and settlement both lock the order first: no deadlock", async () => {
  const { db, order, clear, addPayment, makeDue, runOrderPoller, payments, provider, rowOf, errors } = await setup();
  const { id } = (await order("ada")).body;
  await clear("ada", id);
  const paymentId = await addPayment(id, { status: "authorized" });
  const captured = { ...(await provider.payment(paymentId)), status: "captured" as const };
  await sql`
    with entry as (
      insert into queue_entries (id, user_id, gpu_count, status, held_until)
      values ('reservation', 'ada', 2, 'held', now() + interval '10 minutes') returning id)
    insert into gpu_leases (id, gpu_id, holder_kind, holder_id, hold_until)
    select gpus.id, gpus.id, 'queue', entry.id, now() + interval '10 minutes' from entry, (select id from gpus order by id limit 2) gpus`.execute(
    db,
  );
  const waiting = async () =>
    (
      await sql`select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
        db,
      )
    ).rows.length;
  const settled = await db.transaction().execute(async (tx) => {
    await sql`select 1 from queue_entries for update`.execute(tx);
    await makeDue(id);
    runOrderPoller();
    await expect.poll(waiting).toBe(1);
    const settling = settlePayment(payments, captured).catch(String);
    await expect.poll(waiting).toBe(2);
    return { settling };
  });
  expect(await settled.settling).toBe("settled");
  await expect.poll(async () => (await rowOf(id)).last_error).toBe(null);
  expect(errors).toEqual([]);
});

test("a late capture that fails releases its hold", async () => {
  const { order, clear, addPayment, makeDue, runOrderPoller, rowOf, openLeases, provider, errors, db } = await setup();
  const { id } = (await order("ada")).body;
  await clear("ada", id);
  await addPayment(id, { status: "authorized" });
  let heldThen = 0;
  const capture = async () => {
    heldThen = (await openLeases()).length;
    throw new Error("the bank says no");
  };
  Object.assign(provider, { capture });
  await makeDue(id);
  runOrderPoller();
  await expect.poll(() => errors.length).toBe(1);
  await expect.poll(async () => (await rowOf(id)).lease_token).toBe(null);
  expect([heldThen, await openLeases()]).toEqual([2, []]);
  expect(await db.selectFrom("subdomain_claims").selectAll().execute()).toEqual([]);
});
