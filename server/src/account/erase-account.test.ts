import { sql } from "kysely";
import { expect, test } from "vitest";
import type { Db } from "../database/database.ts";
import { writeSamples } from "../environments/activity/samples.ts";
import { startOrderPoller } from "../payments/orders/order-poller.ts";
import { startRefundSender } from "../payments/refunds/refund-sender.ts";
import { containerRequest, testApp } from "../testing/test-app.ts";
import { eraseAccount } from "./erase-account.ts";
import { newPublicKey } from "./ssh-keys/testing/public-keys.ts";
import { measurement, password, setup, tables } from "./testing/setup-account.ts";

test("the wrong password is refused with a message, counts as a sign-in, and changes nothing", async () => {
  const product = await testApp({ SIGN_INS_PER_MINUTE: "3" });
  const ada = await product.signUp();
  const before = await product.rows();
  const answers: number[] = [];
  for (let tries = 0; tries < 4; tries += 1) {
    const answer = await product.call("DELETE", `/profile/${ada.id}`, ada.token, { password: "guess" });
    answers.push(answer.statusCode);
    if (tries === 0)
      expect(answer.json()).toMatchObject({ code: "wrong_password", message: "This is not your current password" });
  }
  expect(answers).toEqual([400, 400, 400, 429]);
  const signIn = await product.call("POST", "/identity/v1/accounts:signInWithPassword?key=local", undefined, {
    email: ada.email,
    password,
    returnSecureToken: true,
  });
  expect(signIn.statusCode, "the owner's own attempts are used up too").toBe(429);
  expect(await product.rows()).toEqual(before);
});

test("deleted: every environment ends, files are deleted, names are nobody's, money records stay without a name", async () => {
  const { ada, db, driver, rent, order, must, call, remove, signIn, status, rowsOf, signUp } = await setup();
  const [running, paused, stopped, ended] = [
    await rent(ada, { subdomain: "running-lab", gpu_count: 1 }),
    await rent(ada, { subdomain: "paused-lab", gpu_count: 1 }),
    await rent(ada, { subdomain: "stopped-lab", gpu_count: 1 }),
    await rent(ada, { subdomain: "ended-lab", gpu_count: 1 }),
  ];
  const act = (action: string, { environment_id }: typeof running) =>
    must("POST", `/docker/${action}_container/${environment_id}/${ada.id}`, ada.token, {});
  await act("pause", paused);
  await act("stop", stopped);
  await must("POST", `/environments/${ended.environment_id}/terminate`, ada.token, { confirm: "ended-lab" });
  await expect.poll(() => status(paused.environment_id)).toBe("paused");
  await expect.poll(() => status(stopped.environment_id)).toBe("stopped");
  await expect.poll(() => status(ended.environment_id)).toBe("terminated");
  await order(ada, { subdomain: "unpaid-lab", gpu_count: 1 });
  await must("POST", `/environments/${running.environment_id}/sign-in-code`, ada.token, {});
  await must("POST", "/auth/reset-password", undefined, { email: ada.email });
  await must("PUT", `/settings/${ada.id}/flags`, ada.token, { billingAlerts: false });
  const ticket = { issueType: "other", description: "x", userEmail: ada.email, userId: ada.id };
  await must("POST", "/support/tickets", ada.token, ticket);
  await sql`insert into grants (id, user_id, environment_id) values ('grant', ${ada.id}, ${running.environment_id})`.execute(
    db,
  );
  await db
    .insertInto("samples")
    .values(measurement(running.environment_id, { home_mb: 3, cpu_cores: 0.5 }))
    .execute();
  await must("POST", `/environments/${running.environment_id}/share`, ada.token, { term: "7d" });
  const key = { name: "Lovelace's laptop", public_key: newPublicKey() };
  await must("POST", `/settings/${ada.id}/ssh-keys`, ada.token, key);
  const before = await rowsOf(ada.id);
  const homes = (await db.selectFrom("environments").select("home").execute()).map(({ home }) => home);
  expect(homes.every((home) => driver.machine.homes.has(home))).toBe(true);

  expect((await remove()).json()).toEqual({ status: "success" });

  expect((await signIn()).statusCode).toBe(400);
  expect((await call("GET", `/profile/${ada.id}`, ada.token)).statusCode).toBe(401);
  const refreshed = await call("POST", "/identity/v1/token?key=local", undefined, {
    grant_type: "refresh_token",
    refresh_token: ada.refreshToken,
  });
  expect(refreshed.statusCode).toBe(400);
  for (const { environment_id } of [running, paused, stopped, ended])
    await expect.poll(() => status(environment_id), { timeout: 15_000 }).toBe("terminated");
  expect(await driver.list()).toEqual([]);
  await expect.poll(() => homes.some((home) => driver.machine.homes.has(home)), { timeout: 15_000 }).toBe(false);
  await expect.poll(async () => (await rowsOf(ada.id))["homes"], { timeout: 15_000 }).toBe(0);

  const after = await rowsOf(ada.id);
  for (const [name, { kept }] of Object.entries(tables)) {
    if (!kept) expect(after[name], `${name} is gone`).toBe(0);
    else if (name !== "deleted_accounts") expect(after[name], `${name} is kept`).toBe(before[name]);
  }
  const everything = JSON.stringify(await everyText(db));
  expect(everything).not.toContain(ada.email);
  expect(everything).not.toContain("Lovelace");
  expect(await db.selectFrom("samples").selectAll().execute()).toEqual([]);
  const unpaid = await db
    .selectFrom("orders")
    .where("subdomain", "=", "unpaid-lab")
    .selectAll()
    .executeTakeFirstOrThrow();
  expect(unpaid.status).toBe("cancelled");
  const leases = await db.selectFrom("gpu_leases").where("released_at", "is", null).selectAll().execute();
  expect(leases).toEqual([]);
  const bob = await signUp("Bob");
  const isFree = async (name: string) => (await must("GET", `/subdomains/${name}`, bob.token)).available;
  expect(await isFree("unpaid-lab")).toBe(true);
  for (const name of ["running-lab", "stopped-lab", "ended-lab"])
    expect(await isFree(name), `${name} stays reserved, for nobody (G301)`).toBe(false);
  const again = await must("POST", "/auth/signup", undefined, { email: ada.email, password, name: "Ada again" });
  expect(again.status).toBe("success");
});

test("an environment that was ending during the deletion leaves no files, and its name to nobody (G301)", async () => {
  const { ada, db, driver, rent, must, remove, status, signUp } = await setup();
  const { environment_id } = await rent(ada, { subdomain: "leaving-lab" });
  const release = driver.hang("remove");
  await must("POST", `/environments/${environment_id}/terminate`, ada.token, { confirm: "leaving-lab" });
  await expect.poll(() => driver.calls.get("remove") ?? 0).toBeGreaterThan(0);
  expect((await remove()).statusCode).toBe(200);
  release();
  await expect.poll(() => status(environment_id), { timeout: 15_000 }).toBe("terminated");
  await expect.poll(() => db.selectFrom("homes").selectAll().execute(), { timeout: 15_000 }).toEqual([]);
  const bob = await signUp("Bob");
  expect((await must("GET", "/subdomains/leaving-lab", bob.token)).available).toBe(false);
  expect(await db.selectFrom("former_names").select(["name", "user_id"]).execute()).toEqual([
    { name: "leaving-lab", user_id: null },
  ]);
});

test("paid and not yet delivered: cancelled, and refunded in full although the account is deleted", async () => {
  const { ada, db, order, pay, call, remove, payments, driver } = await setup({ answerMs: 600_000 });
  const placed = await order(ada, { subdomain: "slow-lab" });
  const proof = await pay(placed);
  const watch = startOrderPoller(payments);
  const refunds = startRefundSender(payments);
  await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all([watch.stop(), refunds.stop()])) };
  await sql`update orders set due_at = now()`.execute(db);
  watch.trigger();
  const row = () => db.selectFrom("environments").selectAll().executeTakeFirst();
  await expect.poll(async () => (await row())?.status, { timeout: 15_000 }).toBe("pending");
  expect((await remove()).statusCode).toBe(200);
  await expect.poll(async () => (await row())?.status, { timeout: 15_000 }).toBe("terminated");
  expect(await row()).toMatchObject({ ended_reason: "cancelled" });
  const orderRow = () => db.selectFrom("orders").selectAll().executeTakeFirstOrThrow();
  await expect.poll(async () => (await orderRow()).status, { timeout: 15_000 }).toBe("refunded");
  const payment = await db.selectFrom("payments").selectAll().executeTakeFirstOrThrow();
  expect(payment.refund_minor).toBe(payment.amount_minor);
  expect(payment.gateway_payment_id).toBe(proof.razorpay_payment_id);
  expect(await driver.list()).toEqual([]);
  for (const table of ["notifications", "mails", "profiles"] as const)
    expect(await db.selectFrom(table).where("user_id", "=", ada.id).selectAll().execute(), table).toEqual([]);
  expect((await call("DELETE", `/profile/${ada.id}`, ada.token, { password })).statusCode).toBe(401);
});

test("money that arrives after the deletion is refunded and buys nothing", async () => {
  const { ada, db, order, pay, remove, payments } = await setup();
  const placed = await order(ada);
  expect((await remove()).statusCode).toBe(200);
  await pay(placed);
  const watch = startOrderPoller(payments);
  const refunds = startRefundSender(payments);
  await using _ = { [Symbol.asyncDispose]: async () => void (await Promise.all([watch.stop(), refunds.stop()])) };
  await sql`update orders set due_at = now()`.execute(db);
  watch.trigger();
  const orderRow = () => db.selectFrom("orders").selectAll().executeTakeFirstOrThrow();
  await expect.poll(async () => (await orderRow()).status, { timeout: 15_000 }).toBe("refunded");
  expect(await db.selectFrom("environments").selectAll().execute()).toEqual([]);
});

test("concurrent deletions: both succeed, one deletion; later writes about the user restore nothing", async () => {
  const { ada, db, remove, rowsOf, must } = await setup();
  await must("GET", `/profile/${ada.id}/export`, ada.token);
  const answers = await Promise.all([remove(), remove(), remove()]);
  expect(answers.map(({ statusCode }) => statusCode).every((code) => code === 200 || code === 401)).toBe(true);
  expect(answers.some(({ statusCode }) => statusCode === 200)).toBe(true);
  await db.insertInto("profiles").values({ user_id: ada.id, email: ada.email, name: "Ada" }).execute();
  await db
    .insertInto("notifications")
    .values({ id: "late", user_id: ada.id, cause: "late", title: "t", body: "b" })
    .execute();
  const after = await rowsOf(ada.id);
  expect([after["profiles"], after["notifications"], after["deleted_accounts"]]).toEqual([0, 0, 1]);
});

test("a crash in the middle rolls the deletion back", async () => {
  const { ada, db, remove, rows, signIn } = await setup();
  await sql`create function crash() returns trigger language plpgsql as $$ begin raise exception 'cut off'; end $$`.execute(
    db,
  );
  await sql`create trigger crash before delete on profiles for each row execute function crash()`.execute(db);
  const before = await rows();
  expect((await remove()).statusCode).toBe(500);
  expect(await rows()).toEqual(before);
  await sql`drop trigger crash on profiles`.execute(db);
  expect((await remove()).statusCode).toBe(200);
  expect((await signIn()).statusCode).toBe(400);
  expect(ada.id).not.toBe("");
});

test("an environment that ends concurrently, with its cookies, does not deadlock with the deletion", async () => {
  const { db, identity, signUp, rent, deliver } = await testApp({});
  const stopDelivery = deliver();
  const ada = await signUp("Ada Lovelace");
  const { environment_id: id } = await rent(ada, { subdomain: "leaving-lab", gpu_count: 1 });
  await stopDelivery();
  await sql`insert into grants (id, user_id, environment_id) values ('grant', ${ada.id}, ${id})`.execute(db);

  let erasing: Promise<void> | undefined;
  await db.transaction().execute(async (tx) => {
    await sql`update environments set stage = 'ending' where id = ${id}`.execute(tx);
    erasing = eraseAccount(db, identity, ada.id);
    await expect.poll(() => waitingForLocks(db)).toBe(1);
    // Simulates the end of an environment, which holds its row.
    await sql`update grants set revoked_at = now() where environment_id = ${id}`.execute(tx);
  });
  await erasing;
  expect(await db.selectFrom("deleted_accounts").select("user_id").execute()).toEqual([{ user_id: ada.id }]);
});

test("an environment that a code starts at the moment of the deletion ends too (G332)", async () => {
  const { ada, db, identity, call } = await setup();
  const credit = { id: "of-a-code", user_id: ada.id, gpu_hours: 10, source: "voucher" as const, note: "", alone: true };
  await db.insertInto("granted_credits").values(credit).execute();
  await sql`create function hold_up() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(1); return null; end $$`.execute(db);
  await sql`create trigger hold_up after update on granted_credits execute function hold_up()`.execute(db);
  const container_request = containerRequest(ada.id, { subdomain: "leaving-lab", gpu_count: 1, duration: 1 });
  const { launching, erasing } = await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(1)`.execute(tx);
    const launching = call("POST", "/credits/launch", ada.token, { container_request });
    await expect.poll(() => waitingForLocks(db)).toBe(1);
    const erasing = eraseAccount(db, identity, ada.id);
    await expect.poll(() => waitingForLocks(db)).toBe(2);
    return { launching, erasing };
  });
  await erasing;
  const environments = await db.selectFrom("environments").select(["subdomain", "desired"]).execute();
  expect(environments).toEqual([{ subdomain: "leaving-lab", desired: "terminated" }]);
  await launching;
});

test("a measurement that is being written at the moment of the deletion is deleted too", async () => {
  const { db, identity, signUp, rent, deliver } = await testApp({});
  const stopDelivery = deliver();
  const ada = await signUp("Ada Lovelace");
  const { environment_id: environmentId } = await rent(ada, { subdomain: "leaving-lab", gpu_count: 1 });
  await stopDelivery();

  const usage = { cpuCores: 1, memoryMb: 1, homeMb: 1, receivedBytesPerSecond: null, sentBytesPerSecond: null };
  const gpus = [{ id: "gpu", usePercent: 1, memoryMb: 1, watts: 1 }];
  const { writing, erasing } = await db.transaction().execute(async (tx) => {
    await sql`lock table gpu_samples in share mode`.execute(tx);
    const writing = writeSamples(db, [{ environmentId, ...usage, gpus }]);
    await expect.poll(() => waitingForLocks(db)).toBe(1);
    const erasing = eraseAccount(db, identity, ada.id);
    await expect.poll(() => waitingForLocks(db)).toBe(2);
    return { writing, erasing };
  });
  await Promise.all([writing, erasing]);
  expect(await db.selectFrom("samples").selectAll().execute()).toEqual([]);
  expect(await db.selectFrom("gpu_samples").selectAll().execute()).toEqual([]);
});

async function waitingForLocks(db: Parameters<typeof eraseAccount>[0]): Promise<number> {
  const { rows } = await sql<{ n: number }>`
    select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
    db,
  );
  return rows[0]?.n ?? 0;
}

async function everyText(db: Db): Promise<unknown[]> {
  const { rows } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables where table_schema = 'public'`.execute(db);
  const texts: unknown[] = [];
  for (const { name } of rows) texts.push((await sql`select r::text from ${sql.table(name)} r`.execute(db)).rows);
  return texts;
}
